"""What can be said about data before it is opened: plain values, so that a run can write them down."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from samekind.data.pictures import WHITE, Background, Fit
from samekind.errors import SettingError, expect, nearest

Memory = Literal["auto", "always", "never"]


def names_in(value: object, setting: str) -> tuple[str, ...]:
    """A list of names, as a file or a caller gives it; anything else is refused."""
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise SettingError(f"{setting}: expected a list of names, got {value!r}")
    return tuple(value)


def or_usual(settings: "DataSettings | None") -> "DataSettings":
    """The settings that a caller gives, or else the usual ones."""
    if settings is None:
        return DataSettings()
    expect(settings, DataSettings, "settings such as DataSettings(size=64)")
    return settings


@dataclass(frozen=True, kw_only=True)
class DataSettings:
    """How a source of items is read.

    Tables and manifests: ``label``, ``path``, ``domain``, ``part`` and ``group`` name the columns (the last
    three need not be there); ``columns`` are the features, all the others where none is named, and
    ``ignore`` is left out. ``classes``, where given, are the classes there may be, in this order.

    Pictures: ``size`` is one number for a square or (height, width), and ``channels`` 1 or 3; left open, the
    pictures decide, if they agree. ``fit``, ``background`` and ``cut_from`` are those of `ImageReader`, the
    last one number or two: with ``size`` 224, ``fit`` "crop" and ``cut_from`` 256 the shorter side is brought
    to 256 pixels and the middle 224 are cut out. ``white`` is the value of 16-bit greys that is white: 4095
    of a camera with 12 bits.

    Pictures are decoded once into ``memory`` where they take no more than ``memory_limit`` bytes ("auto"), or
    always, or whenever they are needed ("never"), by ``workers`` threads (0: one for each core). Those that
    "auto" leaves on the disk are decoded once onto the GPU of a training, as it begins, where they take no
    more than half of its free memory; "never" leaves that memory to the network.

    ``skip_unreadable`` leaves out files that cannot be read, instead of refusing the whole.
    """

    label: str = "label"
    path: str = "path"
    domain: str = "domain"
    part: str = "split"
    group: str = "group"
    columns: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    size: int | tuple[int, int] | None = None
    channels: int | None = None
    fit: Fit = "stretch"
    background: Background = "white"
    cut_from: int | tuple[int, int] | None = None
    white: int = WHITE
    skip_unreadable: bool = False
    memory: Memory = "auto"
    # A number, not a share of the machine's memory: the same settings must mean the same everywhere.
    memory_limit: int = 4 * 2**30
    workers: int = 0

    def __post_init__(self) -> None:
        for name in ("columns", "ignore", "classes"):
            object.__setattr__(self, name, names_in(getattr(self, name), f"data.{name}"))
        for name in ("size", "cut_from"):
            value: object = getattr(self, name)
            if isinstance(value, list):  # as JSON and TOML have it
                object.__setattr__(self, name, tuple(value))
        self._check()

    def _check(self) -> None:
        for name in ("label", "path", "domain", "part", "group"):
            if not isinstance(getattr(self, name), str):
                raise SettingError(
                    f"data.{name}: expected the name of a column, a text; got {getattr(self, name)!r}"
                )
        if type(self.skip_unreadable) is not bool:
            raise SettingError(f"data.skip_unreadable: expected true or false, got {self.skip_unreadable!r}")
        for name in ("size", "cut_from"):
            value = getattr(self, name)
            sides = value if isinstance(value, tuple) else (value, value)
            if value is not None and (
                len(sides) != 2 or not all(type(side) is int and side >= 1 for side in sides)
            ):
                raise SettingError(
                    f"data.{name}: expected a number of pixels, or height and width, each 1 or more; "
                    f"got {value!r}"
                )
        self._check_cut()
        if self.channels not in (None, 1, 3):
            raise SettingError(f"data.channels: expected 1 (grey) or 3 (colour), got {self.channels!r}")
        for name, choices in (("fit", Fit), ("background", Background), ("memory", Memory)):
            if getattr(self, name) not in get_args(choices):
                known = " or ".join(f'"{each}"' for each in get_args(choices))
                raise SettingError(f"data.{name}: expected {known}, got {getattr(self, name)!r}")
        if type(self.white) is not int or not 1 <= self.white <= WHITE:
            raise SettingError(
                f"data.white: expected the value of 16-bit pictures that is white, from 1 to {WHITE}; "
                f"got {self.white!r}"
            )
        for name in ("memory_limit", "workers"):
            if type(getattr(self, name)) is not int or getattr(self, name) < 0:
                raise SettingError(f"data.{name}: expected 0 or more, got {getattr(self, name)!r}")

    def _check_cut(self) -> None:
        if self.larger_sides is None:
            return
        if self.sides is None:
            raise SettingError("data.cut_from does nothing without data.size: the middle of how many pixels?")
        if any(larger < side for larger, side in zip(self.larger_sides, self.sides, strict=True)):
            raise SettingError(
                f"data.cut_from: expected data.size ({self.size!r}) or more, to cut that out of the middle; "
                f"got {self.cut_from!r}"
            )

    @property
    def sides(self) -> tuple[int, int] | None:
        """Height and width, where they are given."""
        return (self.size, self.size) if isinstance(self.size, int) else self.size

    @property
    def larger_sides(self) -> tuple[int, int] | None:
        """Height and width of what the middle is cut out of, where it is cut out of something."""
        return (self.cut_from, self.cut_from) if isinstance(self.cut_from, int) else self.cut_from

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON has them."""
        plain = dataclasses.asdict(self)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}

    @staticmethod
    def from_dict(table: Mapping[str, Any]) -> "DataSettings":
        """The settings a table speaks of; what it leaves out is as usual, what is unknown is refused."""
        known = [each.name for each in fields(DataSettings)]
        for name in table:
            if name not in known:
                raise SettingError(f'there is no setting "data.{name}"; {nearest(name, known)}')
        return DataSettings(**table)

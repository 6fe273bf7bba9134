"""How data is read, as plain values that a run writes down."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from samekind.decoding.pixels import WHITE, Background, Fit
from samekind.errors import SettingError, expect
from samekind.settings import Between, Natural, check, read, write

Side = Annotated[int, Between(1)]
Memory = Literal["auto", "always", "never"]


def or_usual(settings: "DataSettings | None") -> "DataSettings":
    """The settings of a caller, or else the defaults."""
    if settings is None:
        return DataSettings()
    expect(settings, DataSettings, "settings such as DataSettings(size=64)")
    return settings


@dataclass(frozen=True, kw_only=True)
class DataSettings:
    """How a source of items is read.

    Tables and manifests: ``label``, ``path``, ``domain``, ``part`` and ``group`` name the columns (the last
    three are optional); ``columns`` are the features, by default all others but those of ``ignore``.
    ``classes``, if given, are the allowed classes, in this order.

    Folders: with ``domain`` "folder" files lie in ``domain/class/``; otherwise in folders of classes.

    Pictures: ``size`` is one number for a square or (height, width), and ``channels`` 1 or 3; by default
    those of the pictures; if they have several sizes, a square that suits is chosen. ``fit``, ``background``
    and ``cut_from`` are those of `ImageReader`, the last one number or two: with ``size`` 224, ``fit`` "crop"
    and ``cut_from`` 256 the shorter side is resized to 256 pixels and the middle 224 are cut out. ``white``
    is the value of 16-bit greys that is white: 4095 for a camera of 12 bits. With ``original_size`` a network
    also learns from the width and height that pictures had before they were resized.

    Sounds: ``rate`` is 8000 or 16000 samples a second; by default 16000, or 8000 if no file has more. Of a
    sound longer than ``seconds`` the middle is read.

    ``memory`` "auto" decodes pictures and sounds once into memory if they take at most ``memory_limit``
    bytes, "always" in any case, "never" whenever they are needed, by ``workers`` threads (0: one for each
    core). Training decodes pictures that "auto" leaves on the disk once onto the GPU, if they take at most
    half of its free memory; "never" leaves that memory to the network.

    ``skip_unreadable`` leaves out files that cannot be read. ``taxonomy`` is a file with the tree of the
    classes, in any format of `samekind.taxonomy`; every class must be in it.
    """

    label: str = "label"
    path: str = "path"
    domain: str = "domain"
    part: str = "split"
    group: str = "group"
    columns: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    size: Side | tuple[Side, Side] | None = None
    channels: Literal[1, 3] | None = None
    fit: Fit = "stretch"
    background: Background = "white"
    cut_from: Side | tuple[Side, Side] | None = None
    white: Annotated[int, Between(1, WHITE)] = WHITE
    original_size: bool = False
    rate: Literal[8000, 16000] | None = None
    seconds: Annotated[float, Between(0.1, 3600)] = 30.0
    skip_unreadable: bool = False
    memory: Memory = "auto"
    # A number, not a share of the machine's memory: the same settings must mean the same everywhere.
    memory_limit: Natural = 4 * 2**30
    workers: Natural = 0
    taxonomy: str | None = None

    def __post_init__(self) -> None:
        check(self, where="data")
        if self.larger_sides is None:
            return
        if self.sides is None:
            raise SettingError("data.cut_from does nothing without data.size; set both")
        if any(larger < side for larger, side in zip(self.larger_sides, self.sides, strict=True)):
            raise SettingError(
                f"data.cut_from: expected data.size ({self.size!r}) or more, which is cut out of the middle; "
                f"got {self.cut_from!r}"
            )

    @property
    def sides(self) -> tuple[int, int] | None:
        """Height and width, if they are given."""
        return (self.size, self.size) if isinstance(self.size, int) else self.size

    @property
    def larger_sides(self) -> tuple[int, int] | None:
        """Height and width that the middle is cut out of, if they are given."""
        return (self.cut_from, self.cut_from) if isinstance(self.cut_from, int) else self.cut_from

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON has them."""
        return write(self)

    @staticmethod
    def from_dict(table: Mapping[str, Any]) -> "DataSettings":
        """The settings of a table; the rest have their defaults. Raises SettingError for an unknown key."""
        return read(DataSettings, table, where="data")

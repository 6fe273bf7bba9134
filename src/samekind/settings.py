"""Plain dictionaries into typed dataclasses, strictly, and back.

A dataclass with a field ``arguments`` keeps the keys it does not know there, because they belong to the part
it names. Any other refuses an unknown key with the nearest known name. A whole number is taken where a float
is expected, and so is a fraction as a text, "8/255"; "none" (TOML has no null) where a setting may be left
out. Nothing else is converted. The old name of a setting is read where the class lists it in ``renamed``.
"""

import dataclasses
import math
import re
import types
import typing
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, NamedTuple, TypeVar

from samekind.errors import SettingError, nearest

T = TypeVar("T")

#: The largest seed of a run: scikit-learn, whose k-means draws by it, takes no larger one.
LARGEST_SEED = 2**32 - 1

#: All pairs of this many items are 12 million trials for a threshold; from more items, so many are drawn.
PAIRED_ITEMS = 5000

#: Tables whose keys may have dots in them: ``optimiser.rates.encoder.stem`` is the rate of "encoder.stem".
WITH_DOTTED_KEYS = ("class_weights", "rates")

#: The text for null in a file, or after ``=``: no auxiliary head, no clipping, no term of this name.
NOTHING = "none"

SCALARS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


class Between(NamedTuple):
    """The range of a number, both ends included: ``Annotated[int, Between(1)]``."""

    low: float
    high: float = math.inf

    def __str__(self) -> str:
        return f"{self.low:g} or more" if self.high == math.inf else f"from {self.low:g} to {self.high:g}"


Natural = Annotated[int, Between(0)]


def read(cls: type[T], values: Mapping[str, Any], *, where: str = "run") -> T:
    """A dataclass from a mapping; ``where`` names the place in messages."""
    if not isinstance(values, Mapping):
        raise SettingError(f"{where}: expected a table of settings, got {values!r}")
    hints = typing.get_type_hints(cls, include_extras=True)
    fields = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    for old, new in getattr(cls, "renamed", {}).items():
        if old in values:
            values = {**{key: value for key, value in values.items() if key != old}, new: values[old]}
    extra = {key: value for key, value in values.items() if key not in fields}
    known: dict[str, Any] = {key: value for key, value in values.items() if key in fields}
    if "arguments" in fields:
        arguments = typed(hints["arguments"], known.get("arguments", {}), f"{where}.arguments")
        known["arguments"] = {**arguments, **extra}
    elif extra:
        key = next(iter(extra))
        raise SettingError(f'{where}: there is no setting "{key}"; {nearest(key, fields)}')
    missing = [name for name, field in fields.items() if _is_required(field) and name not in known]
    if missing:
        raise SettingError(f"{where}: missing {', '.join(missing)}")
    return cls(
        **{
            key: typed(hints[key], _or_none(hints[key], value), f"{where}.{key}")
            for key, value in known.items()
        }
    )


def check(instance: Any, *, where: str) -> None:
    """Check the fields of a frozen dataclass by their hints, from its ``__post_init__``; lists become tuples.

    Raises SettingError that names the first field with a wrong value.
    """
    hints = typing.get_type_hints(type(instance), include_extras=True)
    for field in dataclasses.fields(instance):
        value = typed(hints[field.name], getattr(instance, field.name), f"{where}.{field.name}")
        object.__setattr__(instance, field.name, value)


def write(instance: Any) -> dict[str, Any]:
    """The mapping `read` takes, as JSON has it; ``arguments`` become keys of the mapping itself."""
    plain: dict[str, Any] = {}
    for field in dataclasses.fields(instance):
        value = _plain(getattr(instance, field.name))
        plain.update(value if field.name == "arguments" else {field.name: value})
    return plain


def override(values: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The mapping with one setting replaced; ``path`` has dots: ``space.similarity.hidden``.

    A table in a list is named by its name or its number from 0: ``augment.Flip.probability``. A table that is
    None is replaced by a new one: ``adversary.method``.
    """
    first, _, rest = path.partition(".")
    if not rest:
        return {**values, first: value}
    inner = {} if first in values and values[first] is None else values.get(first)
    if first in WITH_DOTTED_KEYS and isinstance(inner, dict):
        return {**values, first: {**inner, rest: value}}
    if isinstance(inner, list) and inner and all(isinstance(table, dict) for table in inner):
        return {**values, first: _override_in_list(inner, rest, value, where=first)}
    if not isinstance(inner, dict):
        known = [key for key, table in values.items() if isinstance(table, dict)]
        raise SettingError(f'there is no table "{first}" to set "{path}" in; {nearest(first, known)}')
    return {**values, first: override(inner, rest, value)}


def _override_in_list(tables: list[Any], path: str, value: Any, *, where: str) -> list[Any]:
    which, _, rest = path.partition(".")
    names = [str(table.get("name", "")) for table in tables]
    if which.isdecimal() and int(which) < len(tables):
        place = int(which)
    elif names.count(which) == 1:
        place = names.index(which)
    else:
        number = f"there are {names.count(which)} of" if which in names else "there is no"
        known = [*names, *map(str, range(len(tables)))]
        raise SettingError(f'{where}: {number} "{which}" to set "{path}" in; {nearest(which, known)}')
    changed = override(tables[place], rest, value) if rest else value
    return [*tables[:place], changed, *tables[place + 1 :]]


def _or_none(hint: Any, value: Any) -> Any:
    """None for "none" where the hint allows it; in a table of tables those that are "none" are left out.

    Never where "none" could be a text, as in the arguments of a part.
    """
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType) and type(None) in inner and str not in inner:
        return None if value == NOTHING else value
    if origin is dict and dataclasses.is_dataclass(inner[1]) and isinstance(value, Mapping):
        return {key: table for key, table in value.items() if table != NOTHING}
    return value


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return write(value)
    if isinstance(value, Mapping):
        return {key: _plain(element) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(element) for element in value]
    return value


def typed(hint: Any, value: Any, where: str) -> Any:
    """A plain value as its type hint has it. Raises SettingError, with ``where``, if it does not fit."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return value
    if origin is Annotated:
        return _in_range(hint, typed(inner[0], value, where), where)
    if origin in (typing.Union, types.UnionType):
        return _one_of(hint, value, where)
    if dataclasses.is_dataclass(hint):
        return value if isinstance(value, hint) else read(hint, value, where=where)  # type: ignore[arg-type]
    if origin is typing.Literal:
        if not any(type(value) is type(choice) and value == choice for choice in inner):
            raise SettingError(f'{where}: "{value}" is not a choice; {nearest(str(value), map(str, inner))}')
        return value
    if origin in (dict, Mapping):
        if not isinstance(value, Mapping):
            raise SettingError(f"{where}: expected a table of settings, got {value!r}")
        if where.rpartition(".")[2] in WITH_DOTTED_KEYS:
            value = _dotted(value)
        return {key: typed(inner[1], element, f"{where}.{key}") for key, element in value.items()}
    if origin is tuple:
        return _tuple(hint, value, where)
    return _scalar(hint, value, where)


def expected(hint: Any) -> str:
    """The values that a type hint allows, for a message.

    >>> expected(tuple[str, ...]), expected(Natural), expected(int | None)
    ('a list of texts', 'a whole number (0 or more)', 'a whole number')
    """
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return f"{expected(inner[0])} ({inner[1]})"
    if origin in (typing.Union, types.UnionType):
        return " or ".join(expected(option) for option in inner if option is not type(None))
    if origin is typing.Literal:
        return " or ".join(f'"{choice}"' for choice in inner)
    if origin is tuple and inner[-1] is ...:
        return "a list of texts" if inner[0] is str else "a list"
    if origin is tuple:
        return f"a list of {len(inner)}"
    return SCALARS.get(hint) or "a table of settings"


def _in_range(hint: Any, value: Any, where: str) -> Any:
    span = typing.get_args(hint)[1]
    if not (span.low <= value <= span.high) or value == math.inf:
        raise SettingError(f"{where}: expected {expected(hint)}; got {value!r}")
    return value


def _one_of(hint: Any, value: Any, where: str) -> Any:
    """The value as the first option of a union that takes it."""
    options = typing.get_args(hint)
    if value is None and type(None) in options:
        return None
    options = tuple(option for option in options if option is not type(None))
    if len(options) == 1:
        return typed(options[0], value, where)
    for option in options:
        try:
            return typed(option, value, where)
        except SettingError:
            continue
    raise SettingError(f"{where}: expected {expected(hint)}; got {value!r}")


def _tuple(hint: Any, value: Any, where: str) -> tuple[Any, ...]:
    inner = typing.get_args(hint)
    if not isinstance(value, list | tuple) or (inner[-1] is not ... and len(value) != len(inner)):
        raise SettingError(f"{where}: expected {expected(hint)}, got {value!r}")
    hints = inner if inner[-1] is not ... else inner[:1] * len(value)
    return tuple(
        typed(element_hint, element, f"{where}[{place}]")
        for place, (element_hint, element) in enumerate(zip(hints, value, strict=True))
    )


def _dotted(table: Mapping[str, Any]) -> dict[str, Any]:
    """A table without tables in it: ``encoder.stem = 1`` in TOML is a table "encoder" with a key "stem"."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        inner = (
            {f"{key}.{name}": leaf for name, leaf in _dotted(value).items()}
            if isinstance(value, Mapping)
            else {key: value}
        )
        flat.update(inner)
    return flat


def _scalar(hint: type, value: Any, where: str) -> Any:
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint is float and isinstance(value, str) and re.fullmatch(r"\d+/0*[1-9]\d*", value):
        return float(Fraction(value))
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise SettingError(f"{where}: expected {SCALARS.get(hint, hint.__name__)}, got {value!r}")
    return value

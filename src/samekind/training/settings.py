"""Plain dictionaries into typed dataclasses, strictly, and back.

A dataclass with a field ``arguments`` keeps the keys it does not know there (they belong to the part it
names); any other refuses them with the nearest known name. A whole number is taken where a float is
expected, and "none", for TOML has no other word for it, where a setting may be left out; nothing else is
converted.
"""

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from samekind.errors import SettingError, nearest

T = TypeVar("T")

#: Tables whose keys may have dots in them: ``optimiser.rates.encoder.stem`` is the rate of "encoder.stem".
WITH_DOTTED_KEYS = ("rates",)

#: What stands for nothing in a file, or after ``=``: no auxiliary head, no clipping, no term of this name.
NOTHING = "none"


def read(kind: type[T], values: Mapping[str, Any], *, where: str = "run") -> T:
    """A dataclass from a mapping; ``where`` names the place in messages."""
    if not isinstance(values, Mapping):
        raise SettingError(f"{where}: expected a table of settings, got {values!r}")
    hints = typing.get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    extra = {key: value for key, value in values.items() if key not in fields}
    known: dict[str, Any] = {key: value for key, value in values.items() if key in fields}
    if "arguments" in fields:
        given = typed(hints["arguments"], known.get("arguments", {}), f"{where}.arguments")
        known["arguments"] = {**given, **extra}
    elif extra:
        key = next(iter(extra))
        raise SettingError(f'{where}: there is no setting "{key}"; {nearest(key, fields)}')
    missing = [name for name, field in fields.items() if _is_required(field) and name not in known]
    if missing:
        raise SettingError(f"{where}: missing {', '.join(missing)}")
    return kind(
        **{
            key: typed(hints[key], _or_none(hints[key], each), f"{where}.{key}")
            for key, each in known.items()
        }
    )


def write(instance: Any) -> dict[str, Any]:
    """The mapping `read` takes, as JSON has it; ``arguments`` are laid flat again."""
    plain: dict[str, Any] = {}
    for field in dataclasses.fields(instance):
        value = _plain(getattr(instance, field.name))
        plain.update(value if field.name == "arguments" else {field.name: value})
    return plain


def override(values: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The mapping with one setting replaced, ``path`` with dots: ``space.similarity.hidden``.

    A table in a list is found by its name or its number from 0: ``augment.Flip.probability``. Where None
    stands for a table that was left out, ``adversary.kind`` begins one.
    """
    first, _, rest = path.partition(".")
    if not rest:
        return {**values, first: value}
    inner = {} if first in values and values[first] is None else values.get(first)
    if first in WITH_DOTTED_KEYS and isinstance(inner, dict):
        return {**values, first: {**inner, rest: value}}
    if isinstance(inner, list) and inner and all(isinstance(each, dict) for each in inner):
        return {**values, first: _override_in_list(inner, rest, value, where=first)}
    if not isinstance(inner, dict):
        known = [key for key, each in values.items() if isinstance(each, dict)]
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
        found = f"there are {names.count(which)} of" if which in names else "there is no"
        known = [*names, *map(str, range(len(tables)))]
        raise SettingError(f'{where}: {found} "{which}" to set "{path}" in; {nearest(which, known)}')
    changed = override(tables[place], rest, value) if rest else value
    return [*tables[:place], changed, *tables[place + 1 :]]


def _or_none(hint: Any, value: Any) -> Any:
    """None for "none" where the hint allows it; of a table of tables those that are "none" are left out.

    Never where "none" could be a text: the arguments of a part are its own.
    """
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType) and type(None) in inner and str not in inner:
        return None if value == NOTHING else value
    if origin is dict and dataclasses.is_dataclass(inner[1]) and isinstance(value, Mapping):
        return {key: each for key, each in value.items() if each != NOTHING}
    return value


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return write(value)
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


def typed(hint: Any, value: Any, where: str) -> Any:
    """A plain value as a type hint wants it, or a message that says ``where`` it does not fit."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return value
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in inner:
            return None
        return typed(next(each for each in inner if each is not type(None)), value, where)
    if dataclasses.is_dataclass(hint):
        return value if isinstance(value, hint) else read(hint, value, where=where)  # type: ignore[arg-type]
    if origin is typing.Literal:
        if value not in inner:
            raise SettingError(f'{where}: "{value}" is not a choice; {nearest(str(value), map(str, inner))}')
        return value
    if origin is dict:
        if not isinstance(value, Mapping):
            raise SettingError(f"{where}: expected a table of settings, got {value!r}")
        if where.rpartition(".")[2] in WITH_DOTTED_KEYS:
            value = _dotted(value)
        return {key: typed(inner[1], each, f"{where}.{key}") for key, each in value.items()}
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise SettingError(f"{where}: expected a list, got {value!r}")
        return tuple(typed(inner[0], each, f"{where}[{index}]") for index, each in enumerate(value))
    return _scalar(hint, value, where)


def _dotted(table: Mapping[str, Any]) -> dict[str, Any]:
    """A table without tables in it: ``encoder.stem = 1`` in TOML is a table "encoder" with a key "stem"."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        inner = _dotted(value) if isinstance(value, Mapping) else None
        flat.update(
            {key: value} if inner is None else {f"{key}.{name}": each for name, each in inner.items()}
        )
    return flat


def _scalar(hint: type, value: Any, where: str) -> Any:
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        names = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
        raise SettingError(f"{where}: expected {names.get(hint, hint.__name__)}, got {value!r}")
    return value

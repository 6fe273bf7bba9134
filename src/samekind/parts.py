"""A part as name and arguments, and back: how a space is stored without code.

Every part stores the arguments of its constructor under their own names, so it can be described by looking
at it. An argument that was added later (listed in ``came_later`` of the class) is left out if it has its
default, so that older descriptions and fingerprints stay valid. Only classes that a room exports can be
built; nothing that a file names is ever imported or executed.
"""

import hashlib
import inspect
import math
from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin

import torch
from torch import Tensor, nn

from samekind import data, encoders, prototypes, similarities
from samekind.errors import SettingError, nearest
from samekind.settings import SCALARS

ROOMS = {"data": data, "encoders": encoders, "prototypes": prototypes, "similarities": similarities}

Description = dict[str, Any]

#: The largest numbers that torch takes: a whole one of 64 bits, and one of single precision.
LARGEST: dict[type, float] = {bool: 1, int: 2**63 - 1, float: 3.4e38}


def describe(part: object) -> Description:
    """A part of ours as ``{"room", "name", "arguments"}``, parts inside it described the same way."""
    room = room_of(part)
    if room is None:
        raise SettingError(f"{type(part).__name__} is not a part of samekind; only an encoder may be foreign")
    later = getattr(type(part), "came_later", ())
    names = [
        name
        for name, parameter in inspect.signature(type(part)).parameters.items()
        if name not in later or getattr(part, name) != parameter.default
    ]
    return {
        "room": room,
        "name": type(part).__name__,
        "arguments": {name: _plain(getattr(part, name)) for name in names},
    }


def build(description: Mapping[str, Any], *, room: str) -> Any:
    """The part that a description names, with fresh weights; it must come from this ``room``."""
    fits = isinstance(description, Mapping) and description.get("room") == room
    if not fits or not isinstance(description.get("name"), str):
        raise SettingError(f'expected a part of "{room}", got {_short(description)}')
    arguments = description.get("arguments", {})
    if not isinstance(arguments, Mapping):
        raise SettingError(f"expected the arguments of {description['name']}, got {_short(arguments)}")
    return make(room, description["name"], arguments)


def make(room: str, name: str, arguments: Mapping[str, Any]) -> Any:
    """A member of a room by its name. Raises SettingError, with the nearest name, for an unknown one."""
    known = members(room)
    if name not in known:
        raise SettingError(f'"{name}" is not in {room}; {nearest(name, known)}')
    parameters = inspect.signature(known[name]).parameters
    for argument in arguments:
        if argument not in parameters:
            raise SettingError(f'{name} has no argument "{argument}"; {nearest(argument, parameters)}')
    missing = [
        parameter.name
        for parameter in parameters.values()
        if parameter.default is inspect.Parameter.empty and parameter.name not in arguments
    ]
    if missing:
        raise SettingError(f"{name} needs {', '.join(missing)}")
    built = {key: _part_or_value(value, room) for key, value in arguments.items()}
    for key, value in built.items():
        if not _fits(value, parameters[key].annotation):
            expected = _expected(parameters[key].annotation)
            raise SettingError(f"{name}: {key} must be {expected}, got {_short(value)}")
    try:
        return known[name](**built)
    except (TypeError, ValueError, RuntimeError) as error:
        why = str(error).partition("\n")[0]  # torch may add the stack of its own calls
        raise SettingError(f"{name} cannot be built from {_short(dict(arguments))}: {why}") from error


def members(room: str) -> dict[str, type]:
    """The parts a room exports, by name: modules, and of the data the readers."""
    module = ROOMS[room]
    exported = {
        name: getattr(module, name) for name in (module.READERS if module is data else module.__all__)
    }
    return {name: part for name, part in exported.items() if inspect.isclass(part) and not _is_protocol(part)}


def room_of(part: object) -> str | None:
    """The room a part of ours comes from; None for anything foreign."""
    return next((room for room in ROOMS if type(part) in members(room).values()), None)


def is_ours(part: object) -> bool:
    """Whether `describe` takes a part: it comes from a room, and so does every part inside it."""
    if room_of(part) is None:
        return False
    arguments = [getattr(part, name) for name in inspect.signature(type(part)).parameters]
    inside = [
        part for value in arguments for part in (value if isinstance(value, nn.ModuleList) else [value])
    ]
    return all(is_ours(value) for value in inside if isinstance(value, nn.Module))


def raw_bytes(tensor: Tensor) -> memoryview:
    """The numbers of a tensor as bytes, to be hashed: NumPy does not know every dtype of torch."""
    return tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data


def fingerprint(module: nn.Module) -> str:
    """A hash of what must be equal for weights to fit a module: its class; names, shapes and types of its
    tensors.
    """
    lines = [type(module).__qualname__]
    lines += [
        f"{name} {tuple(tensor.shape)} {tensor.dtype}" for name, tensor in sorted(module.state_dict().items())
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _is_protocol(part: type) -> bool:
    return bool(getattr(part, "_is_protocol", False))


def _plain(value: Any) -> Any:
    """An argument as JSON."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple | nn.ModuleList):
        return [_plain(element) for element in value]
    return describe(value)


def _part_or_value(value: Any, room: str) -> Any:
    """An argument for a constructor; a description, also a short one or one in a list, is built."""
    if isinstance(value, list):
        return [_part_or_value(element, room) for element in value]
    if not isinstance(value, Mapping):
        return value
    if "room" in value:
        if value["room"] not in list(ROOMS):  # a list, because the value may not be hashable
            raise SettingError(f"expected a part or a value, got {_short(value)}")
        return build(value, room=value["room"])
    return make(room, str(value.get("name")), {key: inner for key, inner in value.items() if key != "name"})


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value fits a type hint; a whole number is a number too."""
    inner = get_args(hint)
    if get_origin(hint) is Literal:
        return any(value == choice and type(value) is type(choice) for choice in inner)  # True is not 1
    if get_origin(hint) is Sequence:
        return isinstance(value, list | tuple) and all(_fits(element, inner[0]) for element in value)
    if isinstance(hint, UnionType):
        return any(_fits(value, option) for option in inner)
    if isinstance(value, bool) and hint in SCALARS:
        return hint is bool
    if isinstance(value, int | float) and LARGEST[type(value)] < abs(value) < math.inf:
        return False  # torch could not compute with it
    if hint is float:
        return isinstance(value, int | float)
    return isinstance(value, nn.Module if _is_protocol(hint) else hint)


def _expected(hint: Any) -> str:
    """The type that `_fits` expects, in words."""
    inner = get_args(hint)
    if get_origin(hint) is Literal:
        return " or ".join(f'"{choice}"' if isinstance(choice, str) else str(choice) for choice in inner)
    if get_origin(hint) is Sequence:
        return f"a list, each {_expected(inner[0])}"
    if isinstance(hint, UnionType):
        return " or ".join(_expected(option) for option in inner if option is not NoneType)
    return SCALARS.get(hint, f"a {hint.__name__}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."

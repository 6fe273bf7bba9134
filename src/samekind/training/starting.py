"""Runs that start from the weights of a trained space."""

from collections.abc import Iterator, Mapping
from typing import Any

from torch import Tensor, nn

from samekind.encoders import Compressed, Standardised
from samekind.errors import SettingError
from samekind.parts import describe, fingerprint, is_ours
from samekind.space import MetricSpace

#: How many differences a message lists.
MOST_DIFFERENCES = 4


def take_weights(space: MetricSpace, start: MetricSpace) -> list[str]:
    """Copy the weights of a trained space: encoder and similarity, and prototypes and auxiliary head if the
    classes agree. Returns the names of the parts that were copied.

    A scale that was made for another number of classes is not copied. Raises SettingError if a part does not
    fit. Of a compressed space the encoder is taken as it was trained, without the projection.
    """
    taken = ["encoder", "similarity"]
    for name in taken:
        target, source = getattr(space, name), getattr(start, name)
        if isinstance(source, Compressed) and not isinstance(target, Compressed):
            source = source.encoder
        try:
            target.load_state_dict({**source.state_dict(), **_own_scale(target, source)})
        except RuntimeError as error:
            raise SettingError(
                f"cannot start from that space: its {name} ({_name(source)}) does not fit this run's "
                f"({_name(target)}){_difference(target, source)}; use the recipe and settings it was trained "
                "with"
            ) from error
    if start.classes != space.classes:
        return taken
    for name in ("prototypes", "auxiliary"):
        target, source = getattr(space, name), getattr(start, name)
        if None not in (target, source) and fingerprint(target) == fingerprint(source):
            target.load_state_dict(source.state_dict())
            taken.append(name)
    return taken


def _own_scale(target: nn.Module, source: nn.Module) -> dict[str, Tensor]:
    """The state of the target's scale, if both scales were made for a number of classes and these differ."""
    counts = [getattr(getattr(part, "scale", None), "classes", None) for part in (target, source)]
    if None in counts or counts[0] == counts[1]:
        return {}
    return {name: value for name, value in target.state_dict().items() if name.startswith("scale.")}


def _name(part: nn.Module) -> str:
    if isinstance(part, Standardised):
        return f"{type(part.encoder).__name__}, standardised"
    return type(part).__name__


def _difference(target: nn.Module, source: nn.Module) -> str:
    """How two parts of one name differ: in the settings they were built with, or else in their shapes."""
    if _name(target) != _name(source):
        return ""
    if isinstance(target, Standardised) and isinstance(source, Standardised):
        target, source = target.encoder, source.encoder
    described = is_ours(target) and is_ours(source)
    here, there = (
        dict(_settings(describe(part))) if described else _shapes(part) for part in (target, source)
    )
    names = [name for name in {**there, **here} if here.get(name) != there.get(name)]
    listed = [
        f"{name} is {there.get(name, 'missing')} there, {here.get(name, 'missing')} here"
        for name in names[:MOST_DIFFERENCES]
    ]
    more = [f"and {len(names) - MOST_DIFFERENCES} more differ"] if len(names) > MOST_DIFFERENCES else []
    return f": {', '.join([*listed, *more])}" if names else ""


def _settings(description: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """The arguments of a part; those of parts inside it have dotted names."""
    for name, value in description["arguments"].items():
        if isinstance(value, Mapping):
            yield f"{before}{name}", value["name"]
            yield from _settings(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _shapes(module: nn.Module) -> dict[str, Any]:
    return {name: tuple(value.shape) for name, value in module.state_dict().items()}

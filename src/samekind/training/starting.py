"""A run that begins with the weights of a trained space."""

from collections.abc import Iterator, Mapping
from typing import Any

from torch import Tensor, nn

from samekind.encoders import Standardised
from samekind.errors import SettingError
from samekind.parts import describe, fingerprint, is_ours
from samekind.space import MetricSpace

#: So many differences are listed.
MOST_LISTED = 4


def take_weights(space: MetricSpace, start: MetricSpace) -> list[str]:
    """Begin from a trained space: its encoder and similarity, and where the classes agree its prototypes
    too; which these were is returned. A scale made for another number of classes stays there; the run has
    its own.
    """
    taken = ["encoder", "similarity"]
    for name in ("encoder", "similarity"):
        ours, theirs = getattr(space, name), getattr(start, name)
        try:
            ours.load_state_dict({**theirs.state_dict(), **_own_scale(ours, theirs)})
        except RuntimeError as error:
            raise SettingError(
                f"cannot start from that space: its {name} ({_called(theirs)}) does not fit this run's "
                f"({_called(ours)}){_difference(ours, theirs)}; use the recipe and settings it was trained "
                "with"
            ) from error
    for name in ("prototypes", "auxiliary"):
        ours, theirs = getattr(space, name), getattr(start, name)
        if (
            start.classes == space.classes
            and None not in (ours, theirs)
            and fingerprint(ours) == fingerprint(theirs)
        ):
            ours.load_state_dict(theirs.state_dict())
            taken.append(name)
    return taken


def _own_scale(ours: nn.Module, theirs: nn.Module) -> dict[str, Tensor]:
    """The state of our scale by its name in the similarity, if both belong to their numbers of classes, and
    these differ; else nothing.
    """
    here, there = (getattr(getattr(each, "scale", None), "classes", None) for each in (ours, theirs))
    if here == there or None in (here, there):
        return {}
    return {name: each for name, each in ours.state_dict().items() if name.startswith("scale.")}


def _called(part: nn.Module) -> str:
    """What a part is, for a message."""
    if isinstance(part, Standardised):
        return f"{type(part.encoder).__name__}, standardised"
    return type(part).__name__


def _difference(ours: nn.Module, theirs: nn.Module) -> str:
    """Where two parts of one name differ: in the settings they were built with, or else in a tensor."""
    if _called(ours) != _called(theirs):
        return ""
    if isinstance(ours, Standardised) and isinstance(theirs, Standardised):
        ours, theirs = ours.encoder, theirs.encoder
    if is_ours(ours) and is_ours(theirs):
        here, there = dict(_settings(describe(ours))), dict(_settings(describe(theirs)))
    else:
        here, there = _shapes(ours), _shapes(theirs)
    names = [name for name in {**there, **here} if here.get(name) != there.get(name)]
    listed = [
        f"{name} is {there.get(name, 'missing')} there, {here.get(name, 'missing')} here"
        for name in names[:MOST_LISTED]
    ]
    more = [f"and {len(names) - MOST_LISTED} more differ"] if len(names) > MOST_LISTED else []
    return f": {', '.join([*listed, *more])}" if names else ""


def _settings(description: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """The arguments of a part, and with dots those of the parts inside it."""
    for name, value in description["arguments"].items():
        if isinstance(value, Mapping):
            yield f"{before}{name}", value["name"]
            yield from _settings(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _shapes(module: nn.Module) -> dict[str, tuple[int, ...]]:
    return {name: tuple(each.shape) for name, each in module.state_dict().items()}

"""Recipes fitted to few pictures.

The papers train for tens of thousands of steps, with rates and networks to suit. A few hundred pictures make
a few steps an epoch, too few for a high rate to settle: the space is then worse than the raw pixels.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from samekind.recipes.encoder import Subject, pretrained_suits, shape_and_medium
from samekind.training import Batches, Optimiser, Part, Run, Schedule

#: Fewer training pictures than this are few.
FEW = 2_000

#: The steps of a run on few pictures, and the most epochs it takes to reach them.
STEPS, MOST_EPOCHS = 200, 150

#: With few steps an epoch running averages must forget sooner, or they describe an earlier space.
MOMENTUM = 0.5

#: The settings that are chosen for few pictures, each as a whole.
CHOSEN = ("encoder", "prototypes", "optimiser", "schedule", "epochs")

#: The most pixels a side for which the better of two small networks is fast enough.
SMALL = 32


def suited(
    run: Run, subject: Subject, *, items: int, given: Collection[str] = (), own: Run | None = None
) -> Run:
    """The run with settings that suit a small number of training ``items``.

    These are Adam at a small rate that falls as half a cosine, epochs enough for 200 steps (but at most 150),
    running averages that forget sooner, and in place of a deep network from scratch a small one or, where
    its packages are installed and the pictures are large enough, a pretrained one. Settings that were
    ``given`` (of `CHOSEN`, or "space") stay as they are in the run. The epochs also stay if the batches are
    not simply shuffled.

    The run stays as it is if the items are not few or not pictures, or if the recipe does not use SGD, whose
    high rate is what does not suit few items. ``own`` is the recipe's run before anything was given, by
    default the run itself.
    """
    shape, medium = shape_and_medium(subject)
    if medium.units(shape) != "channels" or items >= FEW or (own or run).optimiser.name != "SGD":
        return run
    settings: dict[str, Any] = {
        "optimiser": Optimiser("Adam", rate=0.001, weight_decay=run.optimiser.weight_decay),
        "schedule": Schedule("cosine"),
        "epochs": _epochs(run.epochs, run.batches, items),
    }
    if "space" not in given:
        parts: dict[str, Any] = {}
        if "encoder" not in given:
            parts["encoder"] = _encoder(run.space.encoder, shape, pretrained=pretrained_suits(subject))
        if not {"optimiser", "prototypes"} & set(given):  # larger steps would need another momentum
            parts["prototypes"] = _prototypes(run.space.prototypes)
        settings["space"] = replace(run.space, **parts)
    return replace(run, **{name: value for name, value in settings.items() if name not in given})


def chosen(own: Run, run: Run) -> dict[str, tuple[Any, Any]]:
    """The settings that `suited` changed, as pairs of the value in ``own`` and in ``run``.

    >>> from samekind import recipes
    >>> own = recipes.triplet((1, 8, 8))
    >>> chosen(own, suited(own, (1, 8, 8), items=20, given=["optimiser", "schedule"]))
    {'epochs': (30, 150)}
    """
    pairs = {name: (_setting(own, name), _setting(run, name)) for name in CHOSEN}
    return {name: (before, after) for name, (before, after) in pairs.items() if before != after}


def _setting(run: Run, name: str) -> Any:
    return getattr(run.space if hasattr(run.space, name) else run, name)


def _epochs(epochs: int, batches: Batches, items: int) -> int:
    """Epochs enough for `STEPS`; unchanged if the number of steps an epoch is not known."""
    size = batches.arguments.get("size", 64)
    # An invalid size is refused by the sampler.
    if batches.sampler != "Shuffled" or not isinstance(size, int) or size < 2:
        return epochs
    full, rest = divmod(items, size)
    steps = max(1, full + (rest > 1))  # a single item joins the batch before
    return max(epochs, min(MOST_EPOCHS, math.ceil(STEPS / steps)))


def _encoder(part: Part, shape: Sequence[int], *, pretrained: bool) -> Part:
    """A network that learns from few pictures, in place of a deep one."""
    _, height, width = shape
    if part.name != "ResNet18":
        return part
    dimension = part.arguments["dimension"]
    if pretrained:
        return Part("EfficientNetLite", {"dimension": dimension, "batch_norm": "frozen"})
    if height != width:  # the small networks take only squares
        return part
    return Part("SmallConvnet" if width <= SMALL else "Conv4", {"dimension": dimension})


def _prototypes(part: Part) -> Part:
    if part.name != "RunningAverages":
        return part
    return Part(part.name, {**part.arguments, "momentum": MOMENTUM})

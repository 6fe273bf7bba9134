"""The temperatures of a space's heads, which calibrate their probabilities."""

import math
from functools import partial

from torch import Tensor

from samekind.data import Items
from samekind.decisions import Head, Temperature
from samekind.inference.embed import in_batches
from samekind.inference.known_classes import labels_in
from samekind.measures import temperature_calibration
from samekind.space import MetricSpace

#: The fewest items a temperature is fitted on. In simulations with 30 items, calibrated scores lose three
#: points of calibration error, and scores that are 1.5 times too sure gain seven.
FEWEST = 30


def heads(space: MetricSpace) -> list[Head]:
    """The heads that can answer for all classes of the space."""
    trained = space.auxiliary is not None and set(space.auxiliary.prototypes.classes) == set(space.classes)
    return ["similarity", "auxiliary", "fused"] if trained else ["similarity"]


def fit_temperatures(
    space: MetricSpace, items: Items, z: Tensor, *, description: str | None = None
) -> dict[str, Temperature]:
    """The temperature of each head that knows all classes of the space, fitted on those items (embeddings: z)
    that are of its classes.

    The items must have been used neither for training nor for a prototype. Fewer than 30 of them, or a space
    of one class, give no temperature. But if the space names classes by another score than its own, whose
    scale was not trained, the similarity head takes the calibration of that score's pairs.
    """
    truth = labels_in(space, items)
    known = (truth >= 0).nonzero().flatten()
    if len(known) < FEWEST or len(space.classes) < 2:
        return _of_pairs(space)
    name = f"{description or items.name}: {len(known):,} items of known classes"
    temperatures: dict[str, Temperature] = {}
    for head in heads(space):
        logits = in_batches(space, z[known.to(z.device)], partial(space.log_probabilities, head=head))
        best = temperature_calibration(logits, truth[known])
        temperatures[head] = Temperature(best.temperature, name, len(known), best.at_bound)
    return temperatures


def _of_pairs(space: MetricSpace) -> dict[str, Temperature]:
    """The temperature with which the logits of the chosen score are those of its calibrated pairs; empty for
    the own similarity, and without a calibration.
    """
    kind = space.kind_for("classes")
    decision = space.decisions.get(kind)
    if kind == "similarity" or decision is None or decision.calibration is None:
        return {}
    slope = decision.calibration[0]
    if not 0 < slope < math.inf:
        return {}
    value = float(space.scorer(kind).scale()) / slope
    trials = decision.same_trials + decision.different_trials
    return {"similarity": Temperature(value, f"pairs of {decision.trials}", trials)}

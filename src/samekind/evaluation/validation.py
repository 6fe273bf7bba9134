"""What a training run is told after each epoch, on items it does not train on."""

from collections.abc import Callable

import torch

from samekind.data import Items, draw
from samekind.errors import DataError
from samekind.inference import all_trials, embed
from samekind.measures import equal_error_rate
from samekind.space import MetricSpace

#: Two million pairs tell one epoch from another; all pairs of a large set would cost more than the epoch.
MOST_ITEMS = 2000


def validation(items: Items, *, most_items: int = MOST_ITEMS) -> Callable[[MetricSpace], dict[str, float]]:
    """A function from a space to its EER with each kind of score, and ``eer``, the lowest of them.

    There must be items of two classes at least, and one class with two items. Of more than ``most_items``
    the same ones are drawn for every epoch.
    """
    items = draw(items, most=most_items)
    sizes = torch.bincount(items.labels)
    if (sizes > 0).sum() < 2 or (sizes < 2).all():
        raise DataError(
            f"{items.name}: expected two classes or more, one of them with two items, to validate on"
        )

    def validate(space: MetricSpace) -> dict[str, float]:
        z = embed(space, items.inputs)
        rates = {}
        for kind in space.kinds:
            trials = all_trials(space, z, items.labels, kind=kind)
            rates[f"eer {kind}"] = equal_error_rate(trials.scores, trials.same).rate
        return {"eer": min(rates.values()), **rates}

    return validate

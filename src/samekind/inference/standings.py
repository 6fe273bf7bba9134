"""Which kind of score to ask? Each beside the space's own, on items it was not trained on.

The scores are compared pair by pair and query by query: what is hard is hard for all of them, so that their
difference is told much more precisely than either.
"""

import torch
from torch import Tensor

from samekind.data import Items, draw
from samekind.data.groups import groups_apart
from samekind.decisions import Kind, Standing
from samekind.inference.embed import embed
from samekind.inference.search import search
from samekind.inference.trials import Trials, ordered_trials
from samekind.measures import (
    FEWEST_CLASSES,
    equal_error_rate,
    paired_bootstrap,
    paired_bootstrap_mean,
)
from samekind.space import MetricSpace

#: Of more items, so many are drawn: half a million pairs tell which of two scores is better.
STANDING_ITEMS = 1000


def standings(
    space: MetricSpace, items: Items, *, most_items: int = STANDING_ITEMS, seed: int = 0
) -> dict[str, Standing]:
    """How each kind of score does on the items, or on ``most_items`` drawn from them, and by how much better
    than the space's own similarity, which comes first.

    None at all where no two items are of one class, or all of them are. The interval of the errors is over
    classes, of which it takes three; that of the recall over the items that have another of their class.
    Where items have groups, none is compared with one of its own.
    """
    name = items.name if len(items) <= most_items else f"{most_items:,} items drawn from {items.name}"
    items = draw(items, most=most_items, seed=seed)
    labels = items.labels.cpu()
    sizes = torch.bincount(labels)
    if (sizes > 0).sum() < 2 or (sizes < 2).all():
        return {}
    z, apart = embed(space, items.inputs), groups_apart(items)
    trials = {kind: ordered_trials(space, z, labels, groups=apart.groups, kind=kind) for kind in space.kinds}
    asked = apart.asked[sizes[labels[apart.asked]] > 1]
    hits = {kind: _hits(space, z, labels, apart.marks, kind)[asked] for kind in space.kinds}
    found = {}
    for kind in space.kinds:
        errors = recall = None
        if kind != "similarity":
            errors = _fewer_errors(trials[kind], trials["similarity"], seed)
            recall = paired_bootstrap_mean(hits[kind], hits["similarity"], seed=seed).interval[1:]
        rate = equal_error_rate(trials[kind].scores, trials[kind].same).rate
        found[str(kind)] = Standing(rate, float(hits[kind].mean()), apart.named(name), errors, recall)
    return found


def _hits(space: MetricSpace, z: Tensor, labels: Tensor, marks: Tensor, kind: Kind) -> Tensor:
    """Whether the most alike item of another mark is of the same class, 1 or 0: (n,)."""
    nearest = search(space, z, z, k=1, kind=kind, apart=(marks, marks)).indices[:, 0].cpu()
    return (labels[nearest] == labels).double()


def _fewer_errors(trials: Trials, own: Trials, seed: int) -> tuple[float, float] | None:
    """Between which the equal error lies below that of the own similarity; None of too few classes."""
    if len(torch.unique(torch.cat(trials[2:]))) < FEWEST_CLASSES:
        return None
    found = paired_bootstrap(own.scores, trials.scores, *trials[1:], statistics=("EER",), seed=seed)
    return found["EER"].interval[1:]

"""Which kind of score is best? Each compared with the space's own, on items it was not trained on.

The comparison is paired, by pair of items and by query: the difference of two scores is then known much more
precisely than either.
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

#: At most so many items are drawn: half a million pairs are enough for the comparison.
STANDING_ITEMS = 1000


def standings(
    space: MetricSpace, items: Items, *, most_items: int = STANDING_ITEMS, seed: int = 0
) -> dict[str, Standing]:
    """How each kind of score does on the items, or on ``most_items`` drawn from them, and how much better
    than the space's own similarity, which comes first.

    Empty if no two items are of one class, or all of them are. The interval of the errors is over classes, at
    least three; that of the recall over the items that have another of their class. Items of one group are
    not compared.
    """
    name = items.name if len(items) <= most_items else f"{most_items:,} items drawn from {items.name}"
    items = draw(items, most=most_items, seed=seed)
    labels = items.labels.cpu()
    sizes = torch.bincount(labels)
    if (sizes > 0).sum() < 2 or (sizes < 2).all():
        return {}
    z, apart = embed(space, items.inputs), groups_apart(items)
    trials = {kind: ordered_trials(space, z, labels, groups=apart.groups, kind=kind) for kind in space.kinds}
    queries = apart.queries[sizes[labels[apart.queries]] > 1]
    hits = {kind: _hits(space, z, labels, apart.marks, kind)[queries] for kind in space.kinds}
    result = {}
    for kind in space.kinds:
        errors = recall = None
        if kind != "similarity":
            errors = _fewer_errors(trials[kind], trials["similarity"], seed)
            recall = paired_bootstrap_mean(hits[kind], hits["similarity"], seed=seed).interval[1:]
        rate = equal_error_rate(trials[kind].scores, trials[kind].same).rate
        result[str(kind)] = Standing(rate, float(hits[kind].mean()), apart.named(name), errors, recall)
    return result


def _hits(space: MetricSpace, z: Tensor, labels: Tensor, marks: Tensor, kind: Kind) -> Tensor:
    """1 if the most similar item of another mark is of the same class, else 0: (n,)."""
    nearest = search(space, z, z, k=1, kind=kind, apart=(marks, marks)).indices[:, 0].cpu()
    return (labels[nearest] == labels).double()


def _fewer_errors(trials: Trials, own: Trials, seed: int) -> tuple[float, float] | None:
    """The interval of how much lower the equal error is than the own similarity's; None for few classes."""
    if len(torch.unique(torch.cat(trials[2:]))) < FEWEST_CLASSES:
        return None
    gains = paired_bootstrap(own.scores, trials.scores, *trials[1:], statistics=("EER",), seed=seed)
    return gains["EER"].interval[1:]

"""Classes that the space does not know, named by their other items: the nearest centroid, the nearest five.

Every item is a query. Classes are known from all other items, but for those of the group of the query.
"""

import torch
from torch import Tensor

from samekind.data import Items
from samekind.data.groups import groups_apart
from samekind.evaluation.rows import Row
from samekind.evaluation.samples import mean_sample, rows_of
from samekind.inference import asking, device_of, search
from samekind.inference.known_classes import knows
from samekind.measures import majority_vote
from samekind.measures.tree_catalogue import CENTROID_ACCURACY, MAJORITY_ACCURACY
from samekind.prototypes import class_means
from samekind.space import MetricSpace

#: The nearest items that vote.
VOTERS = 5


def unknown_classes(space: MetricSpace, items: Items, z: Tensor, *, name: str, seed: int = 0) -> list[Row]:
    """The share of items whose class has the most similar mean embedding, and the share whose class is the
    most frequent among their five most similar items; no row if the space knows the classes.

    An item that is alone in its class, or has its class in its own group only, does not count.
    """
    _, marks, queries, _ = apart = groups_apart(items)
    available = len(items) - int(torch.unique(marks, return_counts=True)[1].max()) if len(items) else 0
    if knows(space, items) or available < VOTERS or not len(queries):
        return []
    labels, kind = items.labels.cpu(), space.kind_for("neighbours")
    nearest = search(space, z[queries], z, k=VOTERS, kind=kind, apart=(marks[queries], marks)).indices
    votes = (majority_vote(labels[nearest]) == labels[queries]).double()
    right = _nearest_centroid(space, z, labels, marks)
    is_valid = torch.isin(queries, right.isfinite().nonzero().flatten())
    samples = [
        mean_sample("classification", name, measure, kind, "items", values[is_valid])
        for measure, values in ((CENTROID_ACCURACY, right[queries]), (MAJORITY_ACCURACY, votes))
        if is_valid.any()
    ]
    return rows_of(samples, seed=seed, note=apart.note)


def _nearest_centroid(space: MetricSpace, z: Tensor, labels: Tensor, marks: Tensor) -> Tensor:
    """Whether the mean of an item's class, without the items of its mark, is the most similar mean: (n,)
    float64, NaN for an item whose class has no others.
    """
    device, kind = device_of(space), space.kind_for("neighbours")
    z = z.to(device).float()
    count = int(labels.max()) + 1
    means, present = class_means(z, labels.to(device), count)
    sizes = torch.bincount(labels, minlength=count)
    # The sum over the items of one class and one mark, taken from the sum of the class.
    pairs, group = torch.unique(torch.stack([labels, marks]), dim=1, return_inverse=True)
    inside = torch.zeros(pairs.shape[1], z.shape[1], device=device).index_add_(0, group.to(device), z)
    other_sizes = sizes[labels] - torch.bincount(group)[group]
    sums = means[labels.to(device)] * sizes[labels].to(device)[:, None] - inside[group.to(device)]
    own = sums / other_sizes.clamp(min=1).to(device)[:, None]
    with asking(space):
        scores = space.score_all(means, z, kind=kind).T.cpu()
        of_own = space.score(own, z, kind=kind).cpu()
    scores[:, ~present.cpu()] = -torch.inf
    scores.scatter_(1, labels[:, None], -torch.inf)
    right = (of_own > scores.max(1).values).double()
    return right.masked_fill(other_sizes < 1, torch.nan)

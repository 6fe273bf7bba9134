"""The items that represent a group: those nearest to its centre."""

import torch
from torch import Tensor

from samekind.inference.cluster import Groups


def centre_distances(z: Tensor, groups: Groups) -> Tensor:
    """How far each item (n, d) is from the centre of its own group: (n,)."""
    distances: Tensor = torch.linalg.vector_norm(z - groups.centres[groups.assigned].to(z), dim=1)
    return distances


def representatives(z: Tensor, groups: Groups, *, count: int = 8) -> list[Tensor]:
    """For each group the indices of its ``count`` items nearest to the centre, nearest first.

    Equal distances keep the order of the items. A smaller group gives all its items.
    """
    distances = centre_distances(z, groups)
    chosen = []
    for group in range(len(groups.centres)):
        members = (groups.assigned == group).nonzero().flatten()
        chosen.append(members[distances[members].argsort(stable=True)[:count]])
    return chosen


def largest_first(groups: Groups) -> Groups:
    """The same groups numbered by size, the largest 0; of equals the one with the earliest item first.

    The numbers that k-means gives have no meaning.
    """
    count, items = len(groups.centres), len(groups.assigned)
    sizes = torch.bincount(groups.assigned, minlength=count)
    earliest = torch.full((count,), items).scatter_reduce(0, groups.assigned, torch.arange(items), "amin")
    # Two stable sorts: the second, by size, keeps the order of the first among equals.
    order = earliest.argsort(stable=True)
    order = order[sizes[order].argsort(descending=True, stable=True)]
    place = torch.empty_like(order)
    place[order] = torch.arange(count)
    return Groups(place[groups.assigned], groups.centres[order])

"""Points that are in a region and valid at once.

Limits only move coordinates towards the clean item, which leaves no ball. But it may leave a Voronoi cell,
and the way back into the cell may leave the limits. The clean item is in both, and both hold the way to it
from any of their points: whatever else fails, a point is pulled towards it.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from samekind.attacks.regions import L1, L2, Linf, Relative
from samekind.attacks.regions.region import Region, per_item

#: Goes between region and limits before a point is pulled, and halvings of the way.
ROUNDS, HALVINGS = 2, 12


def feasible(u: Tensor, clean: Tensor, region: Region, valid: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Points (n, …) near ``u`` in the region and ``valid``: `Limits.clip`, or `Limits.bound` for iterates."""
    if isinstance(region, L1 | L2 | Linf | Relative):  # limits leave no ball
        return valid(region.project(u, clean), clean)
    for _ in range(ROUNDS):
        u = valid(region.project(u, clean), clean)
        outside = ~region.contains(u, clean)
        if not bool(outside.any()):
            return u
    far, near = u[outside] - clean[outside], clean[outside]
    low, high = torch.zeros_like(far.flatten(1)[:, 0]), torch.ones_like(far.flatten(1)[:, 0])
    best = near.clone()
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        tried = valid(near + per_item(middle, far) * far, near)
        inside = region.contains(tried, near)
        best = torch.where(per_item(inside, far), tried, best)
        low, high = torch.where(inside, middle, low), torch.where(inside, high, middle)
    return u.masked_scatter(per_item(outside, u), best)

"""What an embedding costs by itself: (n, d) -> a number, added to the losses."""

import torch
import torch.nn.functional as F
from torch import Tensor

__all__ = ["spread"]


def spread(z: Tensor) -> Tensor:
    """Minus the mean distance of each item to its nearest neighbour in the batch, on the sphere.

    The entropy regulariser of the triplet baseline: items that crowd together cost more. Between -2 (as far
    apart as can be) and 0 (every item has a twin); a single item costs 0.
    """
    if len(z) < 2:
        return z.sum() * 0
    z = F.normalize(z, dim=-1)
    exact = z.to(torch.promote_types(z.dtype, torch.float32))
    distances = torch.cdist(exact, exact, compute_mode="donot_use_mm_for_euclid_dist")
    itself = torch.eye(len(z), dtype=torch.bool, device=z.device)
    return -distances.masked_fill(itself, torch.inf).amin(1).mean().to(z.dtype)

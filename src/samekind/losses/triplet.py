"""Triplet loss: every positive beats every negative by a margin.

Schroff et al., "FaceNet: A Unified Embedding for Face Recognition and Clustering", CVPR 2015.
"""

import torch
from torch import Tensor


def triplet(scores: Tensor, positive: Tensor, negative: Tensor, *, margin: float = 0.3) -> Tensor:
    """Mean hinge over the (positive, negative) pairs of each anchor.

    An anchor with no positive or no negative costs 0. Exact in memory of order anchors x candidates: with
    the negatives in order of score, those that break the margin of a positive are a tail, and their sum a
    difference of running sums.
    """
    # Candidates that are no negatives sort to the front and add nothing.
    behind, order = scores.masked_fill(~negative, -torch.inf).sort(1)
    counted = negative.gather(1, order)
    exact = torch.promote_types(scores.dtype, torch.float64) if scores.device.type != "mps" else scores.dtype
    sums = _running_sum(behind.where(counted, 0).to(exact))
    counts = _running_sum(counted.to(exact))
    bar = (scores - margin).contiguous()
    start = torch.searchsorted(behind.detach().contiguous(), bar.detach(), right=True)
    tail_sum = sums[:, -1:] - sums.gather(1, start)
    tail_count = counts[:, -1:] - counts.gather(1, start)
    hinge = (tail_sum - tail_count * bar).where(positive, 0).sum(1)
    pairs = positive.sum(1) * negative.sum(1)
    return (hinge / pairs.clamp(min=1)).clamp(min=0).to(scores.dtype)


def _running_sum(values: Tensor) -> Tensor:
    """Sums of the first 0, 1, … n values of each row: (rows, n) -> (rows, n + 1)."""
    return torch.nn.functional.pad(values.cumsum(1), (1, 0))

"""Triplet loss: every positive beats every negative by a margin.

Schroff et al., "FaceNet: A Unified Embedding for Face Recognition and Clustering", CVPR 2015. The soft
margin is of Hermans et al., "In Defense of the Triplet Loss for Person Re-Identification", 2017. On plain
distances (the similarity Euclidean) or squared ones (SquaredEuclidean); `softmax` and
`generalised_lifted_structure` are like it, but with every negative at once.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.losses.inputs import check
from samekind.losses.row_blocks import mean_over_positives, row_by_row


def triplet(
    scores: Tensor, positive: Tensor, negative: Tensor, *, margin: float = 0.3, soft: bool = False
) -> Tensor:
    """Mean over the (positive, negative) pairs of each anchor of [margin + negative - positive]₊.

    ``soft`` takes ln(1 + exp(…)) instead of the hinge, so every triplet keeps pulling; with margin 0 it is
    the soft margin of Hermans et al. An anchor with no positive or no negative costs 0.
    Exact in memory of order anchors x candidates.
    """
    check(scores, positive, negative)
    shares = (_soft if soft else _hinge)(scores, positive, negative, margin)
    return shares.to(scores.dtype)


def _hinge(scores: Tensor, positive: Tensor, negative: Tensor, margin: float) -> Tensor:
    """With the negatives sorted by score, those that break the margin of a positive are a tail: their sum is
    a difference of running sums.
    """

    def cost(score: Tensor, ahead: Tensor, behind: Tensor) -> Tensor:
        # Candidates that are no negatives sort to the front and add nothing.
        rivals, order = score.masked_fill(~behind, -torch.inf).sort(1)
        counted = behind.gather(1, order)
        exact = torch.float64 if score.device.type != "mps" else score.dtype
        sums = _running_sum(rivals.where(counted, 0).to(exact))
        counts = _running_sum(counted.to(exact))
        bar = (score - margin).contiguous()
        start = torch.searchsorted(rivals.detach().contiguous(), bar.detach(), right=True)
        tail_sum = sums[:, -1:] - sums.gather(1, start)
        tail_count = counts[:, -1:] - counts.gather(1, start)
        hinge = (tail_sum - tail_count * bar).where(ahead, 0).sum(1)
        pairs = ahead.sum(1) * behind.sum(1)
        return (hinge / pairs.clamp(min=1)).clamp(min=0)

    return row_by_row(cost, (scores, None), (positive, None), (negative, None))


def _running_sum(values: Tensor) -> Tensor:
    """Sums of the first 0, 1, … n values of each row: (rows, n) -> (rows, n + 1)."""
    return F.pad(values.cumsum(1), (1, 0))


def _soft(scores: Tensor, positive: Tensor, negative: Tensor, margin: float) -> Tensor:
    """A smooth cost has no tail to sum: each positive meets each negative."""

    def cost(score: Tensor, behind: Tensor, own: Tensor) -> Tensor:
        breach = score - (score.gather(1, own) - margin)
        return F.softplus(breach).masked_fill(~behind, 0).sum(1) / behind.sum(1)

    return mean_over_positives(cost, scores, positive, negative)

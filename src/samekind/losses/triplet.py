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
    """With the negatives sorted by score, those that break the margin of a positive are a tail, which is
    summed by the gaps between neighbours: no term is below 0, so no far negative takes the digits of others.
    """

    def cost(score: Tensor, ahead: Tensor, behind: Tensor) -> Tensor:
        # Candidates that are no negatives sort to the front and add nothing.
        rivals = score.masked_fill(~behind, -torch.inf).sort(1).values
        exact = torch.float64 if score.device.type != "mps" else score.dtype
        bar = (score - margin).contiguous()
        start = torch.searchsorted(rivals.detach().contiguous(), bar.detach(), right=True)
        first = start.clamp(max=rivals.shape[1] - 1)
        rivals = rivals.to(exact)
        # Below 0 where nothing is in the tail.
        beyond = (rivals.gather(1, first) - bar).clamp(min=0) * (rivals.shape[1] - start)
        hinge = (_above(rivals).gather(1, first) + beyond).where(ahead, 0).sum(1)
        pairs = ahead.sum(1) * behind.sum(1)
        return hinge / pairs.clamp(min=1)

    return row_by_row(cost, (scores, None), (positive, None), (negative, None))


def _above(rising: Tensor) -> Tensor:
    """By how much the later values of a row exceed each value, in all: (rows, n) -> (rows, n)."""
    # A gap is counted once for each value above it; from the far end, as the first may be -inf.
    later = torch.arange(rising.shape[1] - 1, 0, -1, dtype=rising.dtype, device=rising.device)
    return F.pad((rising.diff(dim=1) * later).flip(1).cumsum(1).flip(1), (0, 1))


def _soft(scores: Tensor, positive: Tensor, negative: Tensor, margin: float) -> Tensor:
    """A smooth cost has no tail to sum: each positive meets each negative."""

    def cost(score: Tensor, behind: Tensor, own: Tensor) -> Tensor:
        breach = score - (score.gather(1, own) - margin)
        return F.softplus(breach.where(behind, -torch.inf)).sum(1) / behind.sum(1)

    return mean_over_positives(cost, scores, positive, negative)

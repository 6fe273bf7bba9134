"""Histogram loss: the probability that a negative pair is closer than a positive one, computed from two
histograms.

Ustinova and Lempitsky, "Learning Deep Embeddings with Histogram Loss", NeurIPS 2016. Like `triplet` without
a margin, but any positive pair is compared with any negative pair, whether or not they share an anchor. It
reads cosines.
"""

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.losses.inputs import check
from samekind.losses.row_blocks import row_by_row


def histogram(scores: Tensor, positive: Tensor, negative: Tensor, *, bins: int = 200) -> Tensor:
    """The chance that a random positive pair of the batch scores no higher than a random negative one.

    Both kinds of score are sorted into histograms of ``bins`` + 1 nodes from -1 to 1; a score between two
    nodes counts for each in proportion to its nearness. The loss is of the whole batch: the share of an
    anchor is what its negative pairs add, times the number of anchors, so its positives show in the shares
    of others. Without positive or without negative pairs in the batch it is 0. Scores that rounding put
    outside of [-1, 1] are clamped.
    """
    if bins < 1:
        raise SettingError(f"a histogram needs at least 1 bin, got {bins}")
    check(scores, positive, negative)
    # Chance that a positive pair is at a node or below, for each node.
    below = _histogram(scores[positive], bins).cumsum(0)

    def cost(score: Tensor, behind: Tensor, below: Tensor) -> Tensor:
        node, beyond = _place(score.where(behind, 0), bins)
        return torch.lerp(below[node], below[node + 1], beyond).masked_fill(~behind, 0).sum(1)

    risk = row_by_row(cost, (scores, None), (negative, None), (below, ...))
    exact = torch.promote_types(scores.dtype, torch.get_default_dtype())
    return (risk * (len(scores) / negative.sum().clamp(min=1).to(exact))).to(scores.dtype)


def _histogram(scores: Tensor, bins: int) -> Tensor:
    """The part of the scores at each node: (n,) -> (bins + 1,), with sum 1, or 0 if there are none."""
    exact = scores.to(torch.promote_types(scores.dtype, torch.float32))
    node, beyond = _place(exact, bins)
    counts = exact.new_zeros(bins + 1).index_add(0, node, 1 - beyond).index_add(0, node + 1, beyond)
    return counts / max(1, len(scores))


def _place(scores: Tensor, bins: int) -> tuple[Tensor, Tensor]:
    """The node at or below each score, and how far beyond it the score is: 0 at that node, 1 at the next."""
    position = (scores.clamp(-1, 1) + 1) * (bins / 2)
    node = position.detach().long().clamp(max=bins - 1)
    return node, position - node

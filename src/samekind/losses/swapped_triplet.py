"""Triplet loss with the anchor swap: a negative counts by the nearer of its distances to anchor and positive.

Balntas et al., "Learning Local Feature Descriptors with Triplets and Shallow Convolutional Neural Networks",
BMVC 2016. Like `triplet`, but harder.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.losses.inputs import check, check_between
from samekind.losses.row_blocks import mean_over_positives


def swapped_triplet(
    scores: Tensor, positive: Tensor, negative: Tensor, *, between: Tensor | None = None, margin: float = 0.3
) -> Tensor:
    """Mean over the (positive, negative) pairs of each anchor of [margin + nearer negative - positive]₊.

    ``between`` (candidates, candidates) holds the score of the positive with the negative; the higher of it
    and the anchor's own counts. An anchor with no positive or no negative costs 0.
    """
    check(scores, positive, negative)
    between = check_between(between, scores)

    def cost(score: Tensor, behind: Tensor, own: Tensor, other: Tensor) -> Tensor:
        breach = torch.maximum(score, other) - (score.gather(1, own) - margin)
        return F.relu(breach.where(behind, 0)).sum(1) / behind.sum(1)

    return mean_over_positives(cost, scores, positive, negative, of_positives=[between])

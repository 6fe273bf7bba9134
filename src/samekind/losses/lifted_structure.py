"""Lifted structure: a positive pair against all negatives of both its items, the hard ones most.

Oh Song et al., "Deep Metric Learning via Lifted Structured Feature Embedding", CVPR 2016; the generalised
form is of Hermans et al., "In Defense of the Triplet Loss for Person Re-Identification", 2017. Distances are
negative scores: use the similarity Euclidean. Both are like `triplet`, but with every negative at once in a
soft maximum; the generalised form takes the positives so as well, one cost for each anchor.
"""

import torch
from torch import Tensor

from samekind.losses.inputs import check, check_between
from samekind.losses.row_blocks import positive_pairs, row_by_row
from samekind.losses.soft_maximum import soft_maximum


def lifted_structure(
    scores: Tensor, positive: Tensor, negative: Tensor, *, between: Tensor | None = None, margin: float = 1.0
) -> Tensor:
    """½ [ln(Σ exp(margin - d(a, n)) + Σ exp(margin - d(p, n))) + d(a, p)]₊², d = -score, the mean over pairs.

    ``between`` (candidates, candidates) holds -d(p, n): a negative of the anchor is one of the positive
    too. The mean is over all positive pairs of the batch whose anchor has a negative; the share of an
    anchor is what its pairs add, times the number of anchors.
    """
    check(scores, positive, negative)
    between = check_between(between, scores)

    anchors, positives = positive_pairs(positive, negative)
    around_anchors = soft_maximum(scores, negative)[anchors]
    around_positives = row_by_row(soft_maximum, (between, positives), (negative, anchors))
    distances = -scores[anchors, positives].to(around_anchors.dtype)
    breach = (torch.logaddexp(around_anchors, around_positives) + margin + distances).clamp(min=0)
    costs = 0.5 * breach.square() * (len(scores) / max(1, len(anchors)))
    return costs.new_zeros(len(scores)).index_add(0, anchors, costs).to(scores.dtype)


def generalised_lifted_structure(
    scores: Tensor, positive: Tensor, negative: Tensor, *, margin: float = 1.0
) -> Tensor:
    """[ln Σ exp(d(a, p)) + ln Σ exp(margin - d(a, n))]₊ with d = -score, over all positives and negatives.

    An anchor with no positive or no negative costs 0. The value is the mean over anchors.
    """
    check(scores, positive, negative)
    furthest = soft_maximum(scores, positive, factor=-1)
    nearest = soft_maximum(scores, negative)
    # Without positives or without negatives the sum is far below 0.
    return (furthest + nearest + margin).clamp(min=0).to(scores.dtype)

"""Neighbourhood components analysis: the chance that a random neighbour is of the anchor's class.

Goldberger et al., "Neighbourhood Components Analysis", NeurIPS 2004: the second objective, the logarithm of
that chance. The neighbour is drawn with the softmax of -d².
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.losses.inputs import check
from samekind.losses.soft_maximum import soft_maximum


def nca(scores: Tensor, positive: Tensor, negative: Tensor, *, scale: float | Tensor = 1.0) -> Tensor:
    """-log of the summed softmax(scale x score) of an anchor's positives among positives and negatives.

    The paper's scores are -d² (similarity SquaredEuclidean). Like `supervised_contrastive`, but the logarithm
    is outside of the sum: one near positive is enough, the others are left alone. An anchor with no positive
    or no negative costs 0.
    """
    check(scores, positive, negative)
    ahead = _soft_maximum_of_few(scores, positive, scale)
    behind = soft_maximum(scores, negative, factor=scale)
    counted = positive.any(1) & negative.any(1)
    return F.softplus(behind - ahead).where(counted, 0).to(scores.dtype)


def _soft_maximum_of_few(scores: Tensor, mask: Tensor, scale: float | Tensor) -> Tensor:
    """`soft_maximum` pair by pair: positives are few, and another pass over the matrix costs more."""
    anchors, candidates = mask.nonzero(as_tuple=True)
    exact = torch.promote_types(scores.dtype, torch.float32)
    powers = scores[anchors, candidates].to(exact) * scale
    start = powers.new_full((len(scores),), torch.finfo(exact).min / 2)
    largest = start.scatter_reduce(0, anchors, powers.detach(), "amax")
    sums = torch.zeros_like(start).index_add(0, anchors, (powers - largest[anchors]).exp())
    # An anchor without positives keeps the least number; the 1 keeps its logarithm and gradient finite.
    return largest + sums.where(sums > 0, 1).log()

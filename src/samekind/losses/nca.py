"""Neighbourhood components analysis: the chance that a random neighbour is of one's own class.

Goldberger et al., "Neighbourhood Components Analysis", NeurIPS 2004: the second objective, the logarithm of
that chance. The neighbour is drawn with the softmax of -d².
"""

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
    ahead = soft_maximum(scores, positive, factor=scale)
    behind = soft_maximum(scores, negative, factor=scale)
    counted = positive.any(1) & negative.any(1)
    return F.softplus(behind - ahead).where(counted, 0).to(scores.dtype)

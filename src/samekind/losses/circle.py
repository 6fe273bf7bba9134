"""Circle loss: each score is weighted by how far it is from its best value.

Sun et al., "Circle Loss: A Unified Perspective of Pair Similarity Optimization", CVPR 2020.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.losses.inputs import check, check_positive
from samekind.losses.row_blocks import row_by_row
from samekind.losses.soft_maximum import soft_maximum


def circle(
    scores: Tensor, positive: Tensor, negative: Tensor, *, margin: float = 0.4, sharpness: float = 80.0
) -> Tensor:
    """log(1 + Σ exp(γ w_n (s_n - m)) Σ exp(-γ w_p (s_p - 1 + m))), w_n = [s_n + m]₊ and w_p = [1 + m - s_p]₊.

    m is ``margin`` and γ ``sharpness``; the defaults are the paper's for retrieval (for faces 0.25 and 256).
    Like `multi_similarity`, but every positive meets every negative: an anchor without one of the two costs
    0. With the weights at 1 it would be a softmax with a margin. As in the paper the weights are constants
    to the gradient, which therefore is not the slope of the value.
    """
    check_positive("sharpness", sharpness)
    check(scores, positive, negative)

    def cost(scores: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        still = scores.detach()
        pull, push = (still - (1 + margin)).clamp_max_(0), (still + margin).clamp_min_(0)
        # The weight of what is in neither mask is 0, and so is its gradient.
        weights = torch.where(positive, pull, push.where(negative, 0)).mul_(sharpness)
        best = positive.to(scores.dtype).mul_(1 - 2 * margin).add_(margin)
        logits = weights * (scores - best)
        return F.softplus(soft_maximum(logits, positive) + soft_maximum(logits, negative))

    return row_by_row(cost, (scores, None), (positive, None), (negative, None)).to(scores.dtype)

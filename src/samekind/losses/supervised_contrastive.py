"""Supervised contrastive loss: a softmax over all candidates, its target shared by the positives.

Khosla et al., "Supervised Contrastive Learning", NeurIPS 2020; the form L_out, which they prefer.
"""

import torch
from torch import Tensor

from samekind.losses.inputs import check
from samekind.losses.soft_maximum import soft_maximum


def supervised_contrastive(
    scores: Tensor, positive: Tensor, negative: Tensor, *, scale: float | Tensor = 10.0
) -> Tensor:
    """Mean over an anchor's positives of -log softmax(scale x score) among all positives and negatives.

    The scale is one over the paper's temperature, 0.1. Like `softmax`, but the other positives are rivals
    too: with n of them the least cost is log n, all of them equally close, and the closest one is pushed
    away until then. An anchor without positives costs 0; the paper's mean is over all anchors.
    """
    check(scores, positive, negative)
    exact = scores.to(torch.promote_types(scores.dtype, torch.float32))
    total = soft_maximum(exact, positive | negative, factor=scale)
    count = positive.sum(1)
    aim = scale * exact.where(positive, 0).sum(1) / count.clamp(min=1)
    # Rounding can leave a difference of large logits just below 0.
    return (total - aim).clamp(min=0).where(count > 0, 0).to(scores.dtype)

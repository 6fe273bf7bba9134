"""Multi-similarity: all positives of an anchor pull, all negatives push, the hard ones most.

Wang et al., "Multi-Similarity Loss with General Pair Weighting for Deep Metric Learning", CVPR 2019.
"""

import torch.nn.functional as F
from torch import Tensor

from samekind.losses.inputs import check, check_positive
from samekind.losses.soft_maximum import soft_maximum


def multi_similarity(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    attraction: float = 2.0,
    repulsion: float = 50.0,
    threshold: float = 0.5,
) -> Tensor:
    """1/α log(1 + Σ exp(-α(s - λ))) over the positives, plus 1/β log(1 + Σ exp(β(s - λ))) over the negatives.

    α is ``attraction``, β ``repulsion`` and λ ``threshold``: positives below it and negatives above it cost
    most. (The paper prints λ = 1; 0.5 is what its authors' code uses.) Like `circle` it is a soft hinge over
    all candidates at once, but each side stands alone: an anchor without positives still pushes, and one
    without negatives still pulls. Large α and β give hinges on the hardest positive and the hardest negative.
    """
    check_positive("attraction", attraction)
    check_positive("repulsion", repulsion)
    check(scores, positive, negative)
    pull = soft_maximum(scores, positive, factor=-attraction) + attraction * threshold
    push = soft_maximum(scores, negative, factor=repulsion) - repulsion * threshold
    return (F.softplus(pull) / attraction + F.softplus(push) / repulsion).to(scores.dtype)

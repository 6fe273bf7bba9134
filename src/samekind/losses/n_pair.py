"""N-pair loss: one positive against the negatives of many other classes at once.

Sohn, "Improved Deep Metric Learning with Multi-class N-pair Loss Objective", NeurIPS 2016. It reads inner
products; the paper's small cost for long embeddings is the penalty on their norm.
"""

from torch import Tensor

from samekind.losses.inputs import check
from samekind.losses.row_blocks import row_by_row
from samekind.losses.softmax import softmax


def n_pair(scores: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
    """ln(1 + Σ exp(negative - positive)) over all negatives, the mean over an anchor's positives.

    This is `softmax` at scale 1, as -ln of p / (p + Σ n) is ln(1 + Σ n / p): there over prototypes or with
    a scale, here as the paper has it. The paper's batch, one (anchor, positive) pair from each class, is a
    matter of the masks. An anchor with no positive or no negative costs 0.
    """
    check(scores, positive, negative)
    return row_by_row(softmax, (scores, None), (positive, None), (negative, None)).to(scores.dtype)

"""Intra-pair variance: positives shall score alike, and negatives too.

Yu and Tao, "Deep Metric Learning with Tuplet Margin Loss", ICCV 2019, where it is added to another loss: by
itself it does not part positives from negatives.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.errors import SettingError
from samekind.losses.inputs import check
from samekind.losses.row_blocks import row_by_row


def intra_pair_variance(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    positive_slack: float = 0.01,
    negative_slack: float = 0.01,
) -> Tensor:
    """Mean over positive pairs of [(1 - positive_slack) m - s]₊², m being their mean cosine, plus mean over
    negative pairs of [s - (1 + negative_slack) m]₊², with the mean of theirs.

    The means are of the whole batch and move with the gradient. The share of an anchor is what its pairs
    add, times the number of anchors. A kind of pair that is missing adds 0.
    """
    for name, slack in (("positive_slack", positive_slack), ("negative_slack", negative_slack)):
        if not 0 <= slack < 1:
            raise SettingError(f"{name} is a part of the mean cosine, from 0 up, below 1; got {slack}")
    check(scores, positive, negative)
    exact = scores.to(torch.promote_types(scores.dtype, torch.float32))
    counts = torch.stack([positive.sum(), negative.sum()]).clamp(min=1).to(exact.dtype)
    totals = torch.stack([exact.where(positive, 0).sum(), exact.where(negative, 0).sum()])
    parts = exact.new_tensor([1 - positive_slack, 1 + negative_slack])

    def cost(score: Tensor, ahead: Tensor, behind: Tensor, bars: Tensor, weights: Tensor) -> Tensor:
        off = torch.where(ahead, weights[0] * (bars[0] - score), weights[1] * (score - bars[1]))
        return F.relu(off.where(ahead | behind, 0)).square().sum(1)

    # Squared below, so the root of what a pair counts for.
    shared = (parts * totals / counts, ...), ((len(scores) / counts).sqrt(), ...)
    return row_by_row(cost, (scores, None), (positive, None), (negative, None), *shared).to(scores.dtype)

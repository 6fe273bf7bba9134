"""Ranked list: an anchor's positives come within one distance, its negatives beyond a larger one.

Wang et al., "Ranked List Loss for Deep Metric Learning", CVPR 2019. Like `margin_based`, but anchor by
anchor, and the hard negatives weigh most.
"""

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.losses.inputs import check
from samekind.losses.row_blocks import row_by_row


def ranked_list(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    margin: float = 0.4,
    boundary: float = 1.2,
    positive_temperature: float = 0.0,
    negative_temperature: float = 10.0,
    balance: float = 0.5,
) -> Tensor:
    """(1 - balance) times the weighted mean over positives of d - (boundary - margin), plus balance times
    that over negatives of boundary - d; d = -score, and only candidates with a cost above 0 count.

    The weight of a candidate is e^(temperature x its cost): with 0 all weigh alike. As in the paper the
    weights are constants to the gradient, which therefore is not the slope of the value. An anchor without
    one of the two kinds costs what the other does.
    """
    if not 0 <= balance <= 1:
        raise SettingError(f"balance is the part of the negatives, from 0 to 1; got {balance}")
    check(scores, positive, negative)

    def cost(score: Tensor, ahead: Tensor, behind: Tensor) -> Tensor:
        far = (margin - boundary - score).where(ahead, 0).clamp(min=0)
        near = (boundary + score).where(behind, 0).clamp(min=0)
        pull, push = _weighted_mean(far, positive_temperature), _weighted_mean(near, negative_temperature)
        return (1 - balance) * pull + balance * push

    return row_by_row(cost, (scores, None), (positive, None), (negative, None)).to(scores.dtype)


def _weighted_mean(costs: Tensor, temperature: float) -> Tensor:
    """The mean of the costs above 0 in each row, by the softmax of them; 0 without any."""
    powers = (temperature * costs.detach()).masked_fill(costs <= 0, torch.finfo(costs.dtype).min)
    return (powers.softmax(1) * costs).sum(1)

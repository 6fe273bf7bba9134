"""Linear contrastive losses: hinges on the distance of a pair, without a square.

Like `contrastive`, but a far pair pulls no more than a near one, and positives are left alone within a margin
of their own. `margin_based` is of Wu et al., "Sampling Matters in Deep Embedding Learning", ICCV 2017.
"""

import math
from typing import Literal

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.losses.contrastive import check_weighting
from samekind.losses.inputs import check
from samekind.losses.row_blocks import row_by_row


def linear_contrastive(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    positive_margin: float = 0.0,
    margin: float = 1.0,
    weighting: Literal["pairs", "kinds"] = "kinds",
    active: bool = True,
) -> Tensor:
    """[d - positive_margin]₊ for a positive pair, [margin - d]₊ for a negative one, with d = -score.

    The value is the mean over positive pairs plus that over negative pairs; ``weighting="pairs"`` takes one
    mean over both. With ``active`` only pairs that cost something count in a mean. The share of an anchor is
    what its pairs add, times the number of anchors. For cosines the margins are those of -cosine: -1 and 0
    give 1 - cosine and [cosine]₊.
    """
    for name, value in (("positive_margin", positive_margin), ("margin", margin)):
        if not math.isfinite(value):
            raise SettingError(f"{name} is a distance, a finite number; got {value}")
    check_weighting(weighting)
    check(scores, positive, negative)
    exact = scores.detach().to(torch.promote_types(scores.dtype, torch.float32))
    pulled = (positive & (exact < -positive_margin) if active else positive).sum()
    pushed = (negative & (exact > -margin) if active else negative).sum()
    if weighting == "pairs":
        pulled = pushed = pulled + pushed
    counts = torch.stack([pulled, pushed]).clamp(min=1).to(exact.dtype)

    def cost(score: Tensor, ahead: Tensor, behind: Tensor, weights: Tensor) -> Tensor:
        pull = (-positive_margin - score.where(ahead, -positive_margin)).clamp(min=0).sum(1)
        push = (margin + score.where(behind, -margin)).clamp(min=0).sum(1)
        return weights[0] * pull + weights[1] * push

    tables = (scores, None), (positive, None), (negative, None), (len(scores) / counts, ...)
    return row_by_row(cost, *tables).to(scores.dtype)


def margin_based(
    scores: Tensor, positive: Tensor, negative: Tensor, *, margin: float = 0.2, boundary: float = 1.2
) -> Tensor:
    """[margin + d - boundary]₊ for a positive pair, [margin + boundary - d]₊ for a negative one, d = -score.

    The value is the mean over all pairs that cost something. The boundary between same and different is
    fixed, the same for all classes. The paper draws one negative for each positive pair: the miner
    `distance_weighted`.
    """
    if not margin >= 0:
        raise SettingError(f"the margin is a distance, 0 or more; got {margin}")
    return linear_contrastive(
        scores,
        positive,
        negative,
        positive_margin=boundary - margin,
        margin=boundary + margin,
        weighting="pairs",
    )

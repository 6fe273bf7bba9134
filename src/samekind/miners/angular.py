"""Triplets with a wide angle at the negative: those that the angular loss asks about.

The angle is that of Wang et al., "Deep Metric Learning with Angular Loss", ICCV 2017.
"""

import math
from typing import Literal

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.miners.distance_weighted import chords
from samekind.miners.rows import pair_rows


def angular(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    angle: float = 20.0,
    quantity: Literal["negative distance", "cosine"] = "negative distance",
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """One row for each (anchor, positive) with negatives n at which arctan(|a - p| / 2|n - c|) is above
    ``angle`` degrees, c being the middle of a and p; its masks hold the positive and all such negatives.

    Scores are of a batch with itself: the distance of p and n is read off them too. Needs memory for
    (pairs, candidates).
    """
    del generator
    if not 0 <= angle < 90:
        raise SettingError(f"the angle is from 0 degrees up, below 90; got {angle}")
    if scores.shape[0] != scores.shape[1]:
        raise SettingError(
            "angular reads how far positives and negatives are from each other, so it needs the scores of a "
            f"batch with itself, (n, n); got {tuple(scores.shape)}. Use it in a term against the batch."
        )
    anchors, positives = (positive & negative.any(1, keepdim=True)).nonzero(as_tuple=True)
    squares = chords(scores, quantity).square()
    base = squares[anchors, positives][:, None]
    # The squared length of the median of a triangle, from its sides.
    median = (squares[anchors] + squares[positives]) / 2 - base / 4
    wide = base > 4 * math.tan(math.radians(angle)) ** 2 * median
    return pair_rows(anchors, positives, wide & negative[anchors])

"""The triplets that break a margin, or of these the hard or the semi-hard ones, or those that keep it."""

from typing import Literal

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.miners.rows import pair_rows


def triplet_margin(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    margin: float = 0.2,
    triplets: Literal["all", "hard", "semi-hard", "easy"] = "all",
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """One row for each (anchor, positive) with a negative as asked for, by the gap from positive to negative.

    "all": a gap of the margin or less; "hard": also 0 or less, the negative is as near as the positive;
    "semi-hard": also above 0; "easy": above the margin. A row's masks hold the positive and all such
    negatives. `semi_hard` is the same but for a gap of exactly the margin, at which a hinge costs nothing.
    Needs memory for (pairs, candidates).
    """
    del generator
    if triplets not in ("all", "hard", "semi-hard", "easy"):
        raise SettingError(f'the triplets are "all", "hard", "semi-hard" or "easy"; got "{triplets}"')
    anchors, positives = (positive & negative.any(1, keepdim=True)).nonzero(as_tuple=True)
    gaps = scores[anchors, positives][:, None] - scores[anchors]
    within = gaps > margin if triplets == "easy" else gaps <= margin
    if triplets == "hard":
        within &= gaps <= 0
    elif triplets == "semi-hard":
        within &= gaps > 0
    return pair_rows(anchors, positives, within & negative[anchors])

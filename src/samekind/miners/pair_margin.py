"""Positive pairs farther than one distance, negative pairs nearer than another."""

import torch
from torch import Tensor


def pair_margin(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    positive_margin: float = 0.2,
    margin: float = 0.8,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Every anchor, with the positives at d > positive_margin and the negatives at d < margin, d = -score.

    Like `informative`, but by fixed distances. For cosines the margins are those of -cosine, as in
    `linear_contrastive`. An anchor that keeps nothing is still a row.
    """
    del generator
    rows = torch.arange(len(scores), device=scores.device)
    return rows, positive & (scores < -positive_margin), negative & (scores > -margin)

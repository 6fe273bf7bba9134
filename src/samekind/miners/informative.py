"""Informative pairs: positives below some negative, and negatives above some positive.

The mining of the multi-similarity loss: Wang et al., "Multi-Similarity Loss with General Pair Weighting for
Deep Metric Learning", CVPR 2019.
"""

import torch
from torch import Tensor


def informative(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    margin: float = 0.1,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Every anchor, with the positives below its highest negative + margin, and the negatives above its
    lowest positive - margin.

    Unlike `semi_hard`, each candidate is judged against the most demanding one of the other side, not pair
    by pair, so a row is an anchor. An anchor that separates the two by the margin, or that lacks one of
    them, keeps nothing and is still a row: the paper averages over all anchors.
    """
    del generator
    highest = scores.masked_fill(~negative, -torch.inf).amax(1, keepdim=True)
    lowest = scores.masked_fill(~positive, torch.inf).amin(1, keepdim=True)
    rows = torch.arange(len(scores), device=scores.device)
    return rows, positive & (scores - margin < highest), negative & (scores + margin > lowest)

"""For each anchor, the positive that is already nearest: a class may keep several clusters.

Xuan et al., "Improved Embeddings with Easy Positive Triplet Mining", WACV 2020.
"""

import torch
from torch import Tensor


def easy_positives(
    scores: Tensor, positive: Tensor, negative: Tensor, *, generator: torch.Generator | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Every anchor with its nearest positive alone (of several as near, the first) and all its negatives.

    Like `everything`, but a class is not pulled into one point. An anchor without a positive stays without.
    """
    del generator
    nearest = scores.masked_fill(~positive, -torch.inf).argmax(1, keepdim=True)
    alone = torch.zeros_like(positive).scatter_(1, nearest, True)
    return torch.arange(len(scores), device=scores.device), positive & alone, negative

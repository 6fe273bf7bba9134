"""Softmax: each positive against all negatives at once.

Over prototypes this is the cross-entropy of a classifier; over the batch, the N-pair form. Cosine, -d², -d
and -ln d give NormFace, squared-distance, distance and distance-ratio classifiers.
"""

from typing import Literal

import torch
from torch import Tensor

from samekind.errors import SettingError


def softmax(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    scale: float | Tensor = 1.0,
    smoothing: float = 0.0,
    spread: Literal["others", "all"] = "others",
) -> Tensor:
    """Mean over an anchor's positives of -log softmax(scale x score) among that positive and all negatives.

    ``smoothing`` moves that much of the target to the other candidates, in equal parts: to the K - 1 others
    (documents 000 and 001) or to all K, the positive too (document 003). An anchor with no positive or no
    negative costs 0. Computed in float32 at least.
    """
    if spread not in ("others", "all"):
        raise SettingError(f'the spread of the smoothing is "others" or "all"; got "{spread}"')
    # The share is a small difference of large logits: half precision would round it, and its gradient, away.
    logits = scores.to(torch.promote_types(scores.dtype, torch.float32)) * scale
    behind = logits.masked_fill(~negative, -torch.inf)
    rivals = negative.sum(1, keepdim=True)
    # Anchors without negatives are kept out of the logarithm, whose gradient there is not a number.
    behind = torch.where(rivals > 0, behind, 0).logsumexp(1, keepdim=True)
    total = torch.logaddexp(logits, behind)
    others = logits.where(negative, 0).sum(1, keepdim=True)
    if spread == "others":
        aim = (1 - smoothing) * logits + smoothing * others / rivals.clamp(min=1)
    else:
        aim = (1 - smoothing) * logits + smoothing * (logits + others) / (rivals + 1)
    counted = positive & (rivals > 0)
    shares = (total - aim).where(counted, 0).sum(1) / counted.sum(1).clamp(min=1)
    return shares.to(scores.dtype)

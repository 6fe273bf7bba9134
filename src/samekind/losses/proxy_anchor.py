"""Proxy-Anchor: the proxies are the anchors, the items of the batch their candidates.

Kim et al., "Proxy Anchor Loss for Deep Metric Learning", CVPR 2020.
"""

import torch.nn.functional as F
from torch import Tensor

from samekind.losses.inputs import check, check_positive
from samekind.losses.soft_maximum import soft_maximum


def proxy_anchor(
    scores: Tensor, positive: Tensor, negative: Tensor, *, margin: float = 0.1, sharpness: float = 32.0
) -> Tensor:
    """Softplus of the soft maximum of -α(s - δ) over a proxy's items, and of α(s + δ) over all other items.

    α is ``sharpness`` and δ ``margin``. The first is averaged over the proxies with an item in the batch, the
    second over all proxies, as in the paper. Like `multi_similarity` with the matrix read the other way: the
    rows stay items and the columns proxies. What a column costs is shared equally by the items that are
    counted in it, so that the mean of the shares is the paper's value.
    """
    check_positive("sharpness", sharpness)
    check(scores, positive, negative)
    lift = sharpness * margin
    pull = F.softplus(soft_maximum(scores, positive, factor=-sharpness, dim=0) + lift)
    push = F.softplus(soft_maximum(scores, negative, factor=sharpness, dim=0) + lift)
    members, others = positive.sum(0), negative.sum(0)
    pull = pull / (members * (members > 0).sum()).clamp(min=1)
    push = push / (others * scores.shape[1]).clamp(min=1)
    shares = positive.to(pull.dtype) @ pull + negative.to(push.dtype) @ push
    return (len(scores) * shares).to(scores.dtype)

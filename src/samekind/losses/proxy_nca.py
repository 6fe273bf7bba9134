"""Proxy-NCA: NCA with one proxy a class in place of the batch, the softmax of squared distances.

Movshovitz-Attias et al., "No Fuss Distance Metric Learning using Proxies", ICCV 2017.
"""

from typing import Literal

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.losses.inputs import check, check_smoothing
from samekind.losses.soft_maximum import soft_maximum
from samekind.losses.softmax import softmax


def proxy_nca(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    scale: float | Tensor = 9.0,
    smoothing: float = 0.1,
    denominator: Literal["all", "others"] = "all",
    targets: Tensor | None = None,
) -> Tensor:
    """-log of exp(scale x score) of the own proxy over the sum of that of all proxies, or of the others.

    The scores are -d² on the sphere: SquaredEuclidean(normalise=True). The usual code gives item and proxy
    the lengths 3 and 3, which is the scale 9: their product. ``denominator="all"`` is that code's form, and
    is `softmax` with 0.1 of the target moved to the other classes in equal parts. ``"others"`` (with
    smoothing 0) is the form as printed, without the own proxy in the sum: it has no least value, and is
    below 0 where the own proxy is the nearest. Against the batch, the mean over an anchor's positives; an
    anchor with no positive or no negative costs 0. ``targets`` as in `softmax`; "others" reads the masks.
    """
    check(scores, positive, negative)
    if denominator == "all":
        return softmax(scores, positive, negative, scale=scale, smoothing=smoothing, targets=targets)
    if denominator != "others":
        raise SettingError(f'the denominator of proxy_nca is "all" or "others"; got "{denominator}"')
    check_smoothing(smoothing)
    exact = scores.to(torch.promote_types(scores.dtype, torch.float32))
    total = soft_maximum(exact, negative, factor=scale)
    ahead, behind = (exact.where(mask, 0).sum(1) / mask.sum(1).clamp(min=1) for mask in (positive, negative))
    aim = scale * ((1 - smoothing) * ahead + smoothing * behind)
    counted = positive.any(1) & negative.any(1)
    return (total - aim).where(counted, 0).to(scores.dtype)

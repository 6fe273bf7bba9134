"""Additive-margin softmax (CosFace): the positive must win by a margin of cosine.

Wang et al., "CosFace", CVPR 2018; Wang et al., "Additive Margin Softmax for Face Verification", 2018.
"""

from typing import Literal

import torch
from torch import Tensor

from samekind.losses.softmax import softmax


def additive_margin(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    scale: float | Tensor = 30.0,
    margin: float = 0.35,
    smoothing: float = 0.0,
    spread: Literal["others", "all"] = "others",
) -> Tensor:
    """`softmax` over cosines, the margin taken off each positive. With margin 0 it is `softmax`.

    Cosines are clamped to [-1, 1]; rounding can put them just outside.
    """
    cosines = scores.clamp(-1, 1).to(torch.promote_types(scores.dtype, torch.float32))
    shares = softmax(
        cosines - margin * positive.to(cosines.dtype),
        positive,
        negative,
        scale=scale,
        smoothing=smoothing,
        spread=spread,
    )
    return shares.to(scores.dtype)

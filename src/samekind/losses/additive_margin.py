"""Additive-margin softmax (CosFace): the positive must win by a margin of cosine.

Wang et al., "CosFace", CVPR 2018; Wang et al., "Additive Margin Softmax for Face Verification", 2018.
"""

from typing import Literal

from torch import Tensor

from samekind.losses.softmax import moved_softmax


def additive_margin(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    scale: float | Tensor = 30.0,
    margin: float = 0.35,
    smoothing: float = 0.0,
    spread: Literal["others", "all"] = "others",
    targets: Tensor | None = None,
) -> Tensor:
    """`softmax` over cosines, the margin taken off each positive. With margin 0 it is `softmax`.

    Cosines are clamped to [-1, 1]; rounding can put them just outside. ``targets`` as in `softmax`.
    """
    return moved_softmax(
        scores.clamp(-1, 1),
        positive,
        negative,
        move=lambda cosines, _: cosines - margin,
        scale=scale,
        smoothing=smoothing,
        spread=spread,
        targets=targets,
    )

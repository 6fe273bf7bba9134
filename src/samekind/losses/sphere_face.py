"""SphereFace: the angle of the positive counts several times.

Liu et al., "SphereFace: Deep Hypersphere Embedding for Face Recognition", CVPR 2017; with a scale in place of
the embedding's length, as in Kim, "On the Significance of Distance in Machine Learning", 2023.
"""

import math
from typing import Literal

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.losses.softmax import moved_softmax


def sphere_face(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    scale: float | Tensor = 64.0,
    margin: int = 2,
    beyond: Literal["falling", "cosine"] = "falling",
    targets: Tensor | None = None,
) -> Tensor:
    """`softmax` over cosines, the angle θ of each positive multiplied: its cosine becomes cos(margin x θ).

    Like `arc_face`, but the margin grows with the angle. Past θ = π / margin the cosine would rise again and
    push positives away; ``beyond="falling"``, the default, continues it downwards as Liu does, by
    (-1)ᵏ cos(margin x θ) - 2k on the k-th piece. ``"cosine"`` is the bare cosine, as Kim writes it. A margin
    of 1 is `softmax`; Liu uses 4, Kim 2. ``targets`` as in `softmax`.
    """
    if beyond not in ("falling", "cosine"):
        raise SettingError(f'beyond the first piece sphere_face is "falling" or "cosine"; got "{beyond}"')
    check_multiple("sphere_face", margin)

    def multiplied(cosines: Tensor, _: Tensor) -> Tensor:
        return multiply_angle(cosines, int(margin), beyond=beyond)

    return moved_softmax(scores, positive, negative, move=multiplied, scale=scale, targets=targets)


def check_multiple(name: str, margin: float) -> None:
    """Raises SettingError unless the margin is a whole number from 1."""
    if margin < 1 or margin != int(margin):
        raise SettingError(f"the margin of {name} multiplies the angle: a whole number from 1; got {margin}")


def multiply_angle(cosines: Tensor, times: int, *, beyond: str) -> Tensor:
    """The cosine of ``times`` the angle of each cosine, continued past the first piece as ``beyond`` says."""
    cosines = cosines.clamp(-1, 1)
    multiples = _multiple(cosines, times)
    if beyond == "cosine":
        return multiples
    piece = (cosines.detach().acos() * (times / math.pi)).floor().clamp(0, times - 1)
    return (1 - 2 * (piece % 2)) * multiples - 2 * piece


def _multiple(cosines: Tensor, times: int) -> Tensor:
    """cos(times x θ) as a polynomial of cos θ (Chebyshev's), whose slope is finite at every angle."""
    last, this = torch.ones_like(cosines), cosines
    for _ in range(times - 1):
        last, this = this, 2 * cosines * this - last
    return this

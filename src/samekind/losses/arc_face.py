"""ArcFace: the positive must win by a margin of angle.

Deng et al., "ArcFace: Additive Angular Margin Loss for Deep Face Recognition", CVPR 2019. A margin
for each class, and negative ones, which only ask an item to stay near: Kim, "On the Significance of Distance
in Machine Learning", 2023.
"""

import math

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.losses.softmax import moved_softmax


def arc_face(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    scale: float | Tensor = 64.0,
    margin: float | Tensor = 0.5,
    targets: Tensor | None = None,
) -> Tensor:
    """`softmax` over cosines, the angle θ of each positive widened: its cosine becomes cos(θ + margin).

    The margin is in radians, from -π/2 to π/2: one number, or one for each candidate. Like `additive_margin`,
    but even in angle instead of cosine. Where θ + margin is beyond π the cosine would rise again; there it is
    cos θ - margin x sin(margin), which goes on falling. Where it is below 0, with a negative margin, it is 1:
    such a positive is close enough and not pulled. Next to an exact match or an antipode, where the slope of
    the angle is infinite, the slope is cos(margin). ``targets`` as in `softmax`.
    """
    margins = _margins(margin, scores)

    def widened(cosines: Tensor, candidates: Tensor) -> Tensor:
        return widen_angle(cosines.clamp(-1, 1), margins.to(cosines)[candidates])

    return moved_softmax(scores, positive, negative, move=widened, scale=scale, targets=targets)


def _margins(margin: float | Tensor, scores: Tensor) -> Tensor:
    """The margin of each candidate."""
    if not isinstance(margin, Tensor) and not abs(margin) <= math.pi / 2:
        raise SettingError(f"the margin of arc_face is an angle in radians, from -π/2 to π/2; got {margin}")
    # In double precision, and then in that of the scores.
    margins = margin if isinstance(margin, Tensor) else torch.tensor(margin, dtype=torch.double)
    candidates = scores.shape[-1]
    if margins.shape not in ((), (candidates,)):
        expected = f"one number, or one for each of the {candidates} candidates"
        raise SettingError(f"arc_face: expected as margin {expected}; got the shape {tuple(margins.shape)}")
    return margins.expand(candidates)


def widen_angle(cosines: Tensor, margins: Tensor) -> Tensor:
    """The cosines after their angles were widened by margins, continued beyond π as `arc_face` says."""
    # cos(θ + m) without the angle: the arc cosine and its slope lose their digits at both ends.
    squares = (1 - cosines) * (1 + cosines)
    sines = squares.clamp(min=torch.finfo(cosines.dtype).eps).sqrt()
    turned = cosines * margins.cos() - sines * margins.sin()
    beyond = (margins > 0) & (cosines < -margins.cos())
    turned = torch.where(beyond, cosines - margins * margins.sin(), turned)
    return torch.where((margins < 0) & (cosines > margins.cos()), 1, turned)

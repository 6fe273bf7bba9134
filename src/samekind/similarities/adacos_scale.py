"""AdaCos: the scale of a softmax over cosines, chosen by a formula in place of a search.

Zhang et al., "AdaCos: Adaptively Scaling Cosine Logits for Effectively Learning Deep Face Representations",
CVPR 2019.
"""

import math

import torch
from torch import Tensor, nn

from samekind.errors import SettingError


class AdaCosScale(nn.Module):
    """√2 ln(classes - 1): at an angle of π/4 the probability of the true class changes fastest.

    If ``dynamic``, that is the start; after each step the scale becomes ln(B) / cos(min(π/4, median angle
    to the true class)), where B is the mean over items of Σ exp(scale x cosine) over the wrong classes. It
    is a buffer, in the checkpoint. The scores must be cosines. If the formula is not above 0 (few classes,
    all wrong ones far away), the scale stays.
    """

    def __init__(self, *, classes: int, dynamic: bool = False) -> None:
        super().__init__()
        self.classes = classes
        self.dynamic = dynamic
        self.value: Tensor
        self.register_buffer("value", torch.tensor(fixed_value(classes)))

    @property
    def reads(self) -> str | None:
        """The quantity it can follow."""
        return "cosine" if self.dynamic else None

    def forward(self) -> Tensor:
        return self.value.clone()  # `after_step` must not change the caller's

    @torch.no_grad()
    def after_step(self, scores: Tensor, positive: Tensor) -> None:
        if not self.dynamic or not positive.any():
            return
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        angle = scores[positive].clamp(-1, 1).acos().median().clamp(max=math.pi / 4)
        value = log_rivals(self.value, scores, positive) / angle.cos()
        self.value.copy_(torch.where(value > 0, value, self.value))


def fixed_value(classes: int) -> float:
    """√2 ln(classes - 1)."""
    if classes < 3:
        raise SettingError(
            f"the formula √2 ln(classes - 1) needs at least 3 classes, got {classes}; use FixedScale"
        )
    return math.sqrt(2) * math.log(classes - 1)


def log_rivals(scale: Tensor, scores: Tensor, positive: Tensor) -> Tensor:
    """The logarithm of B, the mean over items of Σ exp(scale x score) over the wrong classes.

    B itself would overflow for a wrong class at a small distance.
    """
    rivals = (scale * scores).masked_fill(positive, -torch.inf)
    return rivals.flatten().logsumexp(0) - math.log(len(scores))

"""The factor between a score and a logit: softmax(scale x score) are the probabilities."""

import math
from typing import Protocol

import torch
from torch import Tensor, nn

from samekind.errors import SettingError


class Scale(Protocol):
    """Called without arguments, gives the factor (a tensor of no dimensions).

    The training step calls ``after_step(scores, positive)`` after the optimiser, without gradient, with the
    unscaled scores against the classes (n, classes) and the mask of the true ones: a scale that follows the
    scores changes there. ``reads`` is the quantity it can follow: "cosine", "log-distance" (-ln of the
    chord between directions), "log-angle" (-ln of the angle), or None for a scale that follows none.
    """

    @property
    def reads(self) -> str | None: ...

    def __call__(self) -> Tensor: ...

    def after_step(self, scores: Tensor, positive: Tensor) -> None: ...


class FixedScale(nn.Module):
    """A constant scale."""

    reads = None

    def __init__(self, value: float = 1.0) -> None:
        super().__init__()
        _check(value)
        self.value = value

    def forward(self) -> Tensor:
        return torch.tensor(self.value)

    def after_step(self, scores: Tensor, positive: Tensor) -> None:
        """Does nothing."""


class LearnedScale(nn.Module):
    """A scale trained with the rest; its logarithm is the parameter, so it stays positive."""

    reads = None

    def __init__(self, initial: float = 10.0) -> None:
        super().__init__()
        _check(initial)
        self.initial = initial
        self.logarithm = nn.Parameter(torch.tensor(math.log(initial)))

    def forward(self) -> Tensor:
        return self.logarithm.exp()

    def after_step(self, scores: Tensor, positive: Tensor) -> None:
        """Does nothing; the optimiser changes it."""


def _check(value: float) -> None:
    if not (value > 0 and math.isfinite(value)):
        raise SettingError(f"a scale must be a positive number, got {value}")

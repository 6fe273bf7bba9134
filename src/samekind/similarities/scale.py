"""The factor between a score and a logit: softmax(scale x score) are the probabilities."""

import math
from typing import Protocol

import torch
from torch import Tensor, nn

from samekind.errors import SettingError


class Scale(Protocol):
    """Called without arguments, gives the factor (a tensor of no dimensions).

    ``after_step(scores, positive)`` is called by the training step, without gradient, once the optimiser has
    stepped: the similarity's scores against the classes (n, classes), not yet scaled, and the mask of the
    true ones. A scale that follows the scores moves there. ``reads`` says what it then takes them for:
    "cosine", "log-distance" (-ln of the chord between directions), or None, whatever they are.
    """

    @property
    def reads(self) -> str | None: ...

    def __call__(self) -> Tensor: ...

    def after_step(self, scores: Tensor, positive: Tensor) -> None: ...


class FixedScale(nn.Module):
    """A scale that stays what it is."""

    reads = None

    def __init__(self, value: float = 1.0) -> None:
        super().__init__()
        _check(value)
        self.value = value

    def forward(self) -> Tensor:
        return torch.tensor(self.value)

    def after_step(self, scores: Tensor, positive: Tensor) -> None:
        """Nothing moves."""


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
        """Nothing moves but by the optimiser."""


def _check(value: float) -> None:
    if not (value > 0 and math.isfinite(value)):
        raise SettingError(f"a scale must be a positive number, got {value}")

"""The Linf ball: no coordinate changes by more than epsilon."""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from samekind.attacks.regions.region import expect_size, no_further, shared_draws


@dataclass(frozen=True)
class Linf:
    """The closed ball of the largest coordinate."""

    epsilon: float

    def __post_init__(self) -> None:
        expect_size(self.epsilon)

    def project(self, x: Tensor, clean: Tensor) -> Tensor:
        return clean + (x - clean).clamp(-self.epsilon, self.epsilon)

    def steepest(self, gradient: Tensor) -> Tensor:
        return gradient.sign()

    def start(self, clean: Tensor, generator: torch.Generator) -> Tensor:
        """Uniform in the ball."""
        return clean + self.epsilon * (2 * shared_draws(clean, generator) - 1)

    def contains(self, x: Tensor, clean: Tensor) -> Tensor:
        return no_further(self.distance(x, clean), self.epsilon, x)

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        """The largest change of a coordinate (n,)."""
        return (x - clean).flatten(1).abs().amax(1)

    def resized(self, epsilon: float) -> Self:
        return replace(self, epsilon=epsilon)

"""The L2 ball."""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from samekind.attacks.regions.region import expect_size, no_further, per_item, shared_draws


@dataclass(frozen=True)
class L2:
    """The closed Euclidean ball."""

    epsilon: float

    def __post_init__(self) -> None:
        expect_size(self.epsilon)

    def project(self, x: Tensor, clean: Tensor) -> Tensor:
        """The nearest point of the ball: moved towards the clean item."""
        length = self.distance(x, clean)
        shrink = (self.epsilon / length.clamp_min(torch.finfo(x.dtype).tiny)).clamp_max(1.0)
        return torch.where(per_item(shrink < 1, x), clean + (x - clean) * per_item(shrink, x), x)

    def steepest(self, gradient: Tensor) -> Tensor:
        """The gradient at length 1."""
        length = torch.linalg.vector_norm(gradient.flatten(1), dim=1)
        return gradient / per_item(torch.where(length > 0, length, 1.0), gradient)

    def start(self, clean: Tensor, generator: torch.Generator) -> Tensor:
        """Uniform in the ball."""
        direction = self.steepest(shared_draws(clean, generator, normal=True))
        radius = shared_draws(clean.new_empty(1), generator) ** (1 / clean.shape[1:].numel())
        return clean + self.epsilon * radius * direction

    def contains(self, x: Tensor, clean: Tensor) -> Tensor:
        return no_further(self.distance(x, clean), self.epsilon, x)

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        """The Euclidean distance (n,)."""
        length: Tensor = torch.linalg.vector_norm((x - clean).flatten(1), dim=1)
        return length

    def resized(self, epsilon: float) -> Self:
        return replace(self, epsilon=epsilon)

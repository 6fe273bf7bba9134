"""A Euclidean ball in the size of the item itself: for sounds, a signal-to-noise ratio."""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from samekind.attacks.regions.l2 import L2
from samekind.attacks.regions.region import expect_size, no_further, per_item


@dataclass(frozen=True)
class Relative:
    """Changes whose Euclidean length is at most ``epsilon`` times that of the item: of a sound, noise that is
    at least ``-20 log10(epsilon)`` decibels below it. Numbers that are ``padding`` do not count.

    >>> Relative.below(20.0).epsilon
    0.1
    """

    epsilon: float
    padding: float | None = None

    def __post_init__(self) -> None:
        expect_size(self.epsilon)

    @classmethod
    def below(cls, decibels: float, *, padding: float | None = None) -> Self:
        """The region of a signal-to-noise ratio."""
        return cls(10 ** (-decibels / 20), padding)

    def project(self, x: Tensor, clean: Tensor) -> Tensor:
        """The nearest point of the ball: moved towards the clean item."""
        length = L2(self.epsilon).distance(x, clean)
        shrink = self.epsilon * self.sizes(clean) / length.clamp_min(torch.finfo(x.dtype).tiny)
        return torch.where(per_item(shrink < 1, x), clean + (x - clean) * per_item(shrink, x), x)

    def steepest(self, gradient: Tensor) -> Tensor:
        """The gradient at length 1, to be multiplied by the `sizes` of the items."""
        return L2(self.epsilon).steepest(gradient)

    def start(self, clean: Tensor, generator: torch.Generator) -> Tensor:
        """Uniform in the ball."""
        drawn = L2(1.0).start(torch.zeros_like(clean), generator)
        return clean + self.epsilon * per_item(self.sizes(clean), clean) * drawn

    def contains(self, x: Tensor, clean: Tensor) -> Tensor:
        return no_further(L2(self.epsilon).distance(x, clean), self.epsilon * self.sizes(clean), x)

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        """The length of the change as a part of the item's (n,)."""
        return L2(self.epsilon).distance(x, clean) / self.sizes(clean)

    def resized(self, epsilon: float) -> Self:
        return replace(self, epsilon=epsilon)

    def sizes(self, clean: Tensor) -> Tensor:
        """The lengths of items (n,): what an epsilon of 1 is for each. Silence counts as 1."""
        real = clean if self.padding is None else clean.masked_fill(clean == self.padding, 0)
        sizes = torch.linalg.vector_norm(real.flatten(1), dim=1)
        return torch.where(sizes > 0, sizes, 1.0)

"""The combined L1 and Linf distance: a mixture of the sum of all changes and the largest one.

Kim, "On the Significance of Distance in Machine Learning", 2023, appendix A. The mixture is chosen so that
the ball touches the corners of the L1 ball and of the Linf ball. In two dimensions it is their hull, in more
it is larger.
"""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from samekind.attacks.regions.hull import HALVINGS, expect_sizes, pulled_in, start_between
from samekind.attacks.regions.l1 import shrinkage
from samekind.attacks.regions.region import no_further


@dataclass(frozen=True)
class Combined:
    """The closed ball of radius ``epsilon`` of ``mixture`` x L1 + (1 - ``mixture``) x Linf, through the
    corners of ``L1(epsilon)`` and ``Linf(largest)``: ``largest`` < ``epsilon`` < coordinates x ``largest``.
    Raises SettingError otherwise.
    """

    epsilon: float
    largest: float

    def __post_init__(self) -> None:
        expect_sizes(self.epsilon, self.largest)

    def mixture(self, coordinates: int) -> float:
        """The share of L1 in the distance, for items of so many coordinates: between 0 and 1."""
        expect_sizes(self.epsilon, self.largest, coordinates)
        return (self.epsilon - self.largest) / (self.largest * (coordinates - 1))

    def project(self, x: Tensor, clean: Tensor) -> Tensor:
        """The nearest point of the ball in the Euclidean sense.

        With the multiplier m of the constraint, all changes are shrunk by m x mixture, and the largest of the
        rest are cut to one size, by m x (1 - mixture) in sum (Jenatton and others 2011). m is found by
        halving.
        """
        mixture = self.mixture(x.shape[1:].numel())
        change = (x - clean).flatten(1).double()
        size, _ = change.abs().sort(dim=1, descending=True)
        low, high = torch.zeros_like(size[:, :1]), size.sum(1, keepdim=True)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            rest = (size - mixture * middle).clamp_min(0)
            rest = rest.minimum(shrinkage(rest, (1 - mixture) * middle))
            outside = mixture * rest.sum(1, keepdim=True) + (1 - mixture) * rest[:, :1] > self.epsilon
            low, high = torch.where(outside, middle, low), torch.where(outside, high, middle)
        cut = shrinkage((size - mixture * high).clamp_min(0), (1 - mixture) * high)
        nearest = (change.abs() - mixture * high).clamp_min(0).minimum(cut)
        outside = self.distance(x, clean) > self.epsilon
        return pulled_in(self, change.sign() * nearest, x, clean, outside)

    def steepest(self, gradient: Tensor) -> Tensor:
        """Equal changes of the k coordinates with the largest gradients, with the best k."""
        flat = gradient.flatten(1)
        mixture = self.mixture(flat.shape[1])
        size, order = flat.abs().sort(dim=1, descending=True)
        counts = torch.arange(1, flat.shape[1] + 1, device=flat.device, dtype=flat.dtype)
        lengths = 1 / (mixture * counts + 1 - mixture)
        count = (size.cumsum(1) * lengths).argmax(1, keepdim=True)
        taken = torch.zeros_like(flat).scatter(1, order, (counts <= count + 1).to(flat))
        return (taken * flat.sign() * lengths[count]).reshape(gradient.shape)

    def start(self, clean: Tensor, generator: torch.Generator) -> Tensor:
        """A random point between one of the L1 ball and one of the Linf ball, which are both inside."""
        return start_between(self.epsilon, self.largest, clean, generator)

    def contains(self, x: Tensor, clean: Tensor) -> Tensor:
        return no_further(self.distance(x, clean), self.epsilon, x * x.shape[1:].numel() ** 0.5)

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        """The mixture of the sum of changes and the largest one (n,)."""
        mixture = self.mixture(x.shape[1:].numel())
        size = (x - clean).flatten(1).abs()
        return mixture * size.sum(1) + (1 - mixture) * size.amax(1)

    def resized(self, epsilon: float) -> Self:
        return replace(self, epsilon=epsilon, largest=self.largest * epsilon / self.epsilon)

"""The convex hull of an L1 ball and an Linf ball: everything that lies between a change of few coordinates
and a small change of all.

Kim, "On the Significance of Distance in Machine Learning", 2023, appendix A. With r = epsilon / largest, a
change is inside where its r largest coordinates, the last one by the fraction that r leaves, are at most
epsilon in sum.
"""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from samekind.attacks.regions.l1 import L1, shrinkage
from samekind.attacks.regions.linf import Linf
from samekind.attacks.regions.region import Region, no_further, per_item, shared_draws
from samekind.errors import SettingError

#: Halvings of an interval: more would not change a float64.
HALVINGS = 60


@dataclass(frozen=True)
class Hull:
    """The closed hull of ``L1(epsilon)`` and ``Linf(largest)``, where neither ball holds the other:
    ``largest`` < ``epsilon`` < coordinates x ``largest``. Raises SettingError otherwise.
    """

    epsilon: float
    largest: float

    def __post_init__(self) -> None:
        expect_sizes(self.epsilon, self.largest)

    def project(self, x: Tensor, clean: Tensor) -> Tensor:
        """The nearest point of the hull in the Euclidean sense.

        For a number c up to ``largest`` the hull holds the box of c plus the L1 ball of epsilon - r c. The
        nearest point of that sum is known. The distance to it is convex in c, and its slope is halved to 0.
        """
        expect_sizes(self.epsilon, self.largest, x.shape[1:].numel())
        change = (x - clean).flatten(1).double()
        size, _ = change.abs().sort(dim=1, descending=True)
        ratio = self.epsilon / self.largest
        low, high = torch.zeros_like(size[:, :1]), torch.full_like(size[:, :1], self.largest)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            beyond = (size - middle).clamp_min(0)
            amount = shrinkage(beyond, self.epsilon - ratio * middle)
            further = beyond.minimum(amount).sum(1, keepdim=True) > ratio * amount
            low, high = torch.where(further, middle, low), torch.where(further, high, middle)
        beyond = (change.abs() - low).clamp_min(0)
        amount = shrinkage((size - low).clamp_min(0), self.epsilon - ratio * low)
        nearest = change.abs().minimum(low) + (beyond - amount).clamp_min(0)
        outside = self.distance(x, clean) > self.epsilon
        return pulled_in(self, change.sign() * nearest, x, clean, outside)

    def steepest(self, gradient: Tensor) -> Tensor:
        """The corner of one of the two balls, whichever the gradient rises to more, at distance 1."""
        flat = gradient.flatten(1)
        alone = torch.zeros_like(flat).scatter(1, flat.abs().argmax(1, keepdim=True), 1.0) * flat.sign()
        together = flat.sign() * self.largest / self.epsilon
        rises = (flat * alone).sum(1) >= (flat * together).sum(1)
        return torch.where(rises[:, None], alone, together).reshape(gradient.shape)

    def start(self, clean: Tensor, generator: torch.Generator) -> Tensor:
        """A random point between one of the L1 ball and one of the Linf ball."""
        return start_between(self.epsilon, self.largest, clean, generator)

    def contains(self, x: Tensor, clean: Tensor) -> Tensor:
        return no_further(self.distance(x, clean), self.epsilon, x * x.shape[1:].numel() ** 0.5)

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        """The norm (n,) whose ball of radius ``epsilon`` is the hull: the sum of the r largest changes."""
        expect_sizes(self.epsilon, self.largest, x.shape[1:].numel())
        ratio = self.epsilon / self.largest
        whole = int(ratio)
        size = (x - clean).flatten(1).abs().topk(min(whole + 1, x.shape[1:].numel()), dim=1).values
        return size[:, :whole].sum(1) + (ratio - whole) * size[:, whole:].sum(1)

    def resized(self, epsilon: float) -> Self:
        return replace(self, epsilon=epsilon, largest=self.largest * epsilon / self.epsilon)


def expect_sizes(epsilon: float, largest: float, coordinates: int | None = None) -> None:
    """Raise SettingError where one of the two balls lies in the other."""
    if not 0 < largest < epsilon:
        raise SettingError(f"expected 0 < largest < epsilon, got largest={largest} and epsilon={epsilon}")
    if coordinates is not None and epsilon >= coordinates * largest:
        raise SettingError(
            f"with {coordinates} coordinates L1({epsilon}) holds Linf({largest}) whole; "
            f"use L1, or an epsilon below {coordinates * largest:g}"
        )


def pulled_in(region: Region, change: Tensor, x: Tensor, clean: Tensor, outside: Tensor) -> Tensor:
    """Where ``x`` is ``outside``, points at a ``change`` (n, d) from the items, within what rounding left."""
    near = clean + change.reshape(x.shape).to(x.dtype)
    far = region.distance(near, clean)
    near = clean + (near - clean) * per_item(region.epsilon / far.clamp_min(region.epsilon), x)
    return torch.where(per_item(outside, x), near, x)


def start_between(epsilon: float, largest: float, clean: Tensor, generator: torch.Generator) -> Tensor:
    """A random point on the line from a random point of ``L1(epsilon)`` to one of ``Linf(largest)``."""
    few, many = L1(epsilon).start(clean, generator), Linf(largest).start(clean, generator)
    return torch.lerp(few, many, shared_draws(clean.new_empty(1), generator))

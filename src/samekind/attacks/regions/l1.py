"""The L1 ball: the sum of all changes is at most epsilon."""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from samekind.attacks.regions.region import expect_size, no_further, per_item, shared_draws

#: Coordinates that a step changes at least.
FEWEST = 3


@dataclass(frozen=True)
class L1:
    """The closed ball of the sum of absolute changes.

    ``share`` is the part of all coordinates, at least three of them, that a step changes. The steepest step
    of this ball moves one coordinate alone, which makes slow attacks on pictures. Tramèr and Boneh (2019,
    "SLIDE") move the 1% of the largest gradients instead; they by equal amounts, here each in proportion to
    its gradient, so that the projection leaves the best of them.
    """

    epsilon: float
    share: float = 0.01

    def __post_init__(self) -> None:
        expect_size(self.epsilon)

    def project(self, x: Tensor, clean: Tensor) -> Tensor:
        """The nearest point of the ball in the Euclidean sense, exactly (Duchi and others 2008): every change
        is shrunk by the same amount, and what would change its sign becomes 0.
        """
        change = (x - clean).flatten(1)
        size, _ = change.abs().sort(dim=1, descending=True)
        shrunk = change.sign() * (change.abs() - shrinkage(size, self.epsilon)).clamp_min(0)
        outside = size.sum(1) > self.epsilon
        return torch.where(per_item(outside, x), clean + shrunk.reshape(x.shape), x)

    def steepest(self, gradient: Tensor) -> Tensor:
        """The largest gradients, 1 in sum; 0 elsewhere."""
        flat = gradient.flatten(1)
        count = min(flat.shape[1], max(FEWEST, round(self.share * flat.shape[1])))
        largest = flat.abs().topk(count, dim=1).indices
        step = torch.zeros_like(flat).scatter(1, largest, flat.gather(1, largest))
        size = step.abs().sum(1, keepdim=True)
        return (step / torch.where(size > 0, size, 1.0)).reshape(gradient.shape)

    def start(self, clean: Tensor, generator: torch.Generator) -> Tensor:
        """Uniform in the ball: spacings of uniform numbers, with random signs."""
        sizes = -torch.log1p(-shared_draws(clean, generator))
        rest = -torch.log1p(-shared_draws(clean.new_empty(1), generator))
        signs = torch.where(shared_draws(clean, generator) < 0.5, -1.0, 1.0).to(clean)
        return clean + self.epsilon * signs * sizes / (sizes.sum() + rest)

    def contains(self, x: Tensor, clean: Tensor) -> Tensor:
        # Rounding adds up over the coordinates.
        return no_further(self.distance(x, clean), self.epsilon, x * x.shape[1:].numel() ** 0.5)

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        """The sum of absolute changes (n,)."""
        return (x - clean).flatten(1).abs().sum(1)

    def resized(self, epsilon: float) -> Self:
        return replace(self, epsilon=epsilon)


def shrinkage(size: Tensor, total: float | Tensor) -> Tensor:
    """By how much (n, 1) to shrink numbers of at least 0, (n, d) from the largest to the smallest, so that
    what remains of them above 0 is ``total`` in sum, one number or (n, 1); 0 where their sum is less already.
    """
    excess = size.cumsum(1) - total
    counts = torch.arange(1, size.shape[1] + 1, device=size.device)
    # The largest count of numbers that all stay above the amount they are shrunk by.
    count = (size * counts > excess).sum(1, keepdim=True).clamp_min(1)
    return (excess.gather(1, count - 1) / count).clamp_min(0)

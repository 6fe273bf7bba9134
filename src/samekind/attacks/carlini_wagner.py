"""Carlini & Wagner's attack: the nearest wrong answer in l2, by Adam on distance and margin together.

What is moved is a free number for every coordinate; the input is its tanh, stretched over the valid range. So
no step leaves the range, and none is clipped. The weight of the margin is searched for each item.
Carlini & Wagner, "Towards Evaluating the Robustness of Neural Networks", IEEE S&P 2017.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.attacks.attack import Point, called
from samekind.attacks.goal import Part
from samekind.attacks.limits import Limits
from samekind.attacks.nearest import BALLS, Nearest, box
from samekind.attacks.regions.region import per_item

#: The clean item comes no nearer to the ends of the range than this part: tanh has no slope at the ends.
INNER = 0.999999
#: Adam's rates of forgetting, and what keeps it from dividing by zero.
FIRST, SECOND, TINY = 0.9, 0.999, 1e-8
#: Times per descent at which items are dropped that did not gain this part of their cost.
CHECKS, GAIN = 5, 1e-4


@dataclass(frozen=True, kw_only=True)
class CarliniWagner:
    """The least change in l2 that changes the answer, by ``searches`` descents of ``steps`` steps.

    An item's descent ends where its cost falls no more. ``constant`` is the first weight of the margin: it
    becomes ten times larger until the item succeeds, then halfway between success and failure. With a
    ``confidence`` the new answer must lead by as much.
    """

    steps: int = 1000
    searches: int = 9
    rate: float = 0.01
    constant: float = 1e-3
    confidence: float = 0.0

    __call__ = called

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        return BALLS["l2"].distance(x, clean)

    def _inside(self, goal: Part, clean: Tensor, limits: Limits, generator: torch.Generator) -> Point:
        del generator
        nearest = Nearest(goal, clean, limits, "l2")
        space = tanh_space(limits, clean)
        weight = torch.full_like(nearest.distance, self.constant)
        low, high = torch.zeros_like(weight), torch.full_like(weight, torch.inf)
        for _ in range(self.searches):
            succeeded = self._descend(nearest, space, weight)
            low, high = torch.where(succeeded, low, weight), torch.where(succeeded, weight, high)
            weight = torch.where(high.isinf(), 10 * weight, (low + high) / 2)
        return nearest.point()

    def _descend(self, nearest: Nearest, space: "TanhSpace", weight: Tensor) -> Tensor:
        """Adam from the clean items, with weights (n,) of the margin; returns where a step succeeded."""
        succeeded = torch.zeros_like(weight, dtype=torch.bool)
        free = space.start.clone()
        mean, square, items = torch.zeros_like(free), torch.zeros_like(free), nearest.items
        before, origin = torch.full_like(weight, torch.inf), space.input(free)[0]
        for step in range(1, self.steps + 1):
            x, slope = space.input(free)
            ahead, gradient = self._look(nearest, x, items)
            succeeded[items] |= ahead > self.confidence
            change, missing = x - origin, self.confidence - ahead
            # Of |change|² + weight x max(missing, 0), in the free numbers.
            gradient = slope * (2 * change - per_item(weight * (missing > 0), x) * gradient)
            mean.lerp_(gradient, 1 - FIRST)
            square.mul_(SECOND).addcmul_(gradient, gradient, value=1 - SECOND)
            size = (square / (1 - SECOND**step)).sqrt_().add_(TINY)
            free.addcdiv_(mean, size, value=-self.rate / (1 - FIRST**step))
            if step % max(self.steps // CHECKS, 1) == 0:
                cost = change.flatten(1).square().sum(1) + weight * missing.clamp(min=0)
                going = cost < (1 - GAIN) * before
                if not going.any():
                    break
                before = cost
                if not going.all():
                    rows = going.nonzero()[:, 0]
                    items, weight, before, free = items[rows], weight[rows], before[rows], free[rows]
                    mean, square, origin, space = mean[rows], square[rows], origin[rows], space.rows(rows)
        return succeeded

    def _look(self, nearest: Nearest, x: Tensor, items: Tensor) -> tuple[Tensor, Tensor]:
        """By how much the points lead (n,), and the gradient of that."""
        x = x.detach().requires_grad_()
        ahead = nearest.ask(x, items, confidence=self.confidence)[:, 0]
        [gradient] = torch.autograd.grad(ahead.sum(), x)
        return ahead.detach(), gradient


class TanhSpace(NamedTuple):
    """Free numbers of items: the input is centre + half x tanh(number), or the number in an open range."""

    start: Tensor
    centre: Tensor
    half: Tensor
    closed: Tensor | None = None  # None where every range is closed
    low: Tensor | None = None
    high: Tensor | None = None

    def input(self, free: Tensor) -> tuple[Tensor, Tensor]:
        """The inputs (n, …), and their slope in the free numbers."""
        bent = free.tanh()
        x, slope = torch.addcmul(self.centre, self.half, bent), self.half * (1 - bent * bent)
        if self.closed is None:
            return x, slope
        return torch.where(self.closed, x, free.clamp(self.low, self.high)), torch.where(
            self.closed, slope, 1.0
        )

    def rows(self, rows: Tensor) -> "TanhSpace":
        """The same for some items."""
        ends = (None if values is None else values[rows] for values in (self.closed, self.low, self.high))
        return TanhSpace(self.start[rows], self.centre[rows], self.half[rows], *ends)


def tanh_space(limits: Limits, clean: Tensor) -> TanhSpace:
    """The free numbers of clean items (n, …)."""
    low, high = box(limits, clean)
    closed = low.isfinite() & high.isfinite()
    centre = torch.where(closed, (low + high) / 2, 0.0)
    half = torch.where(closed, (high - low) / 2, 0.0)
    bent = INNER * torch.where(half > 0, (clean - centre) / half, 0.0).clamp(-1, 1)
    start = torch.where(closed, bent.atanh(), clean)
    return TanhSpace(start, centre, half, *(() if bool(closed.all()) else (closed, low, high)))

"""HopSkipJump: along the boundary towards the item, by the answers of the model alone.

Chen, Jordan & Wainwright, "HopSkipJumpAttack: A Query-Efficient Decision-Based Attack", IEEE S&P 2020.
"""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from samekind.attacks.attack import Point, called, drawn_seed, seeded
from samekind.attacks.goal import Part
from samekind.attacks.limits import Limits
from samekind.attacks.nearest import BALLS, Nearest, box
from samekind.attacks.regions.region import per_item, shared_draws

#: Directions that are drawn at once.
DIRECTIONS = 25
#: Rows that go through the model at once where the boundary is probed.
ROWS = 4096
#: How often a step is halved before it is given up.
HALVINGS = 20


@dataclass(frozen=True, kw_only=True)
class HopSkipJump:
    """A small change that changes the answer, found without gradients and without scores.

    It begins at a random valid input with another answer; at most ``starts`` are tried. A step probes the
    boundary with ``draws`` random directions, more in every step, up to ``most_draws``. It goes along the
    mean of those that change the answer, then back to the boundary, towards the clean item.
    """

    norm: Literal["l2", "linf"] = "l2"
    steps: int = 64
    draws: int = 100
    most_draws: int = 10_000
    starts: int = 100

    __call__ = called

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        return BALLS[self.norm].distance(x, clean)

    @torch.no_grad()
    def _inside(self, goal: Part, clean: Tensor, limits: Limits, generator: torch.Generator) -> Point:
        nearest = Nearest(goal, clean, limits, self.norm)
        # With a generator of its own: how many draws it takes depends on the items.
        self._begin(nearest, seeded(drawn_seed(generator)))
        items = nearest.distance.isfinite().nonzero()[:, 0]
        if len(items) == 0:
            return nearest.point()
        x = self._back(nearest, nearest.x[items], items)
        for step in range(self.steps):
            draws = min(int(self.draws * math.sqrt(step + 1)), self.most_draws)
            direction = BALLS[self.norm].steepest(self._probe(nearest, x, items, draws, generator))
            x = self._go(nearest, x, items, direction, 1 / math.sqrt(step + 1))
            x = self._back(nearest, x, items)
        return nearest.point()

    def _begin(self, nearest: Nearest, generator: torch.Generator) -> None:
        """Random inputs between the ends of the range, or ever further away where it has none."""
        low, high = box(nearest.limits, nearest.clean)
        for tries in range(self.starts):
            items = nearest.distance.isinf().nonzero()[:, 0]
            if len(items) == 0:
                return
            clean, around = nearest.clean[items], 2.0 ** min(tries, 20)
            bottom = torch.where(low[items].isinf(), clean - around, low[items])
            top = torch.where(high[items].isinf(), clean + around, high[items])
            nearest.succeeds(bottom.lerp(top, shared_draws(clean, generator)), items)

    def _back(self, nearest: Nearest, x: Tensor, items: Tensor) -> Tensor:
        """Successes (n, …) moved towards the clean items up to the boundary, by halving."""
        clean, d = nearest.clean[items], x[0].numel()
        whole = BALLS[self.norm].distance(x, clean)
        low, high = torch.zeros_like(whole), torch.ones_like(whole)
        for _ in range(math.ceil((1.5 if self.norm == "l2" else 2.0) * math.log2(max(d, 2)))):
            middle = (low + high) / 2
            succeeded = nearest.succeeds(self._between(clean, x, middle, whole), items)
            low, high = torch.where(succeeded, low, middle), torch.where(succeeded, middle, high)
        return self._between(clean, x, high, whole)

    def _between(self, clean: Tensor, x: Tensor, part: Tensor, whole: Tensor) -> Tensor:
        """Points at a part of the whole distance from the clean item: on the line; for linf, in the ball."""
        if self.norm == "l2":
            return clean.lerp(x, per_item(part, x))
        size = per_item(part * whole, x)
        return torch.minimum(torch.maximum(x, clean - size), clean + size)

    def _go(self, nearest: Nearest, x: Tensor, items: Tensor, direction: Tensor, part: float) -> Tensor:
        """A step from ``x``, a part of the distance to the clean item long, halved until it succeeds."""
        clean, to = nearest.clean[items], x.clone()
        rows, size = torch.arange(len(x), device=x.device), part * self.distance(x, clean)
        for _ in range(HALVINGS):
            tried = x[rows] + per_item(size[rows], x) * direction[rows]
            tried = nearest.limits.bound(tried, clean[rows])
            succeeded = nearest.succeeds(tried, items[rows])
            to[rows] = torch.where(per_item(succeeded, x), tried, to[rows])
            rows, size = rows[~succeeded], size / 2
            if len(rows) == 0:
                break
        return to

    def _probe(
        self, nearest: Nearest, x: Tensor, items: Tensor, draws: int, generator: torch.Generator
    ) -> Tensor:
        """The mean direction in which the answer changes (n, …), from random points around ``x``."""
        here, clean = x[:, None], nearest.clean[items][:, None]  # (n, 1, …)
        size = per_item(self.distance(x, nearest.clean[items]) / x[0].numel(), here)
        signed, plain = torch.zeros_like(x), torch.zeros_like(x)
        votes = torch.zeros_like(x.flatten(1)[:, 0])
        for count in [DIRECTIONS] * (draws // DIRECTIONS) + [draws % DIRECTIONS]:
            noise = shared_draws(x.new_empty(1, count, *x.shape[1:]), generator, normal=True)
            noise = noise / noise.flatten(2).norm(dim=2).reshape(1, count, *[1] * (x.dim() - 1))
            for directions in noise.split(max(1, ROWS // len(x)), dim=1):
                points = nearest.limits.bound(here + size * directions, clean)
                rows = items.repeat_interleave(points.shape[1])
                changed = nearest.answers(points.flatten(0, 1), rows).reshape(points.shape[:2])
                vote = torch.where(changed, 1.0, -1.0).to(x)
                way = (points - here) / size  # what the range left of the direction
                signed += (vote.reshape(*vote.shape, *[1] * (x.dim() - 1)) * way).sum(1)
                plain += way.sum(1)
                votes += vote.sum(1)
        mean = votes / draws
        return signed - per_item(torch.where(mean.abs() == 1, 0.0, mean), x) * plain

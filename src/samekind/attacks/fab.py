"""The fast adaptive boundary attack: onto the linearised boundary inside the valid range, near the item.

Croce & Hein, "Minimally distorted Adversarial Examples with a Fast Adaptive Boundary Attack", ICML 2020.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from samekind.attacks.attack import Point, called
from samekind.attacks.goal import Part
from samekind.attacks.limits import Limits
from samekind.attacks.nearest import BALLS, Nearest, box
from samekind.attacks.planes import Norm, least_step
from samekind.attacks.regions.region import per_item

#: The last search aims at a point beyond the boundary by this part of the way to the success.
BEYOND = 0.01


@dataclass(frozen=True, kw_only=True)
class FAB:
    """The least change in a norm that changes the answer.

    A step is a mean of two, both to the nearest linearised boundary with one of the best ``rivals`` of the
    truth: one from the current point, one from the clean item, with the weight ``bias`` at most. Both go
    ``overshoot`` times as far. A success is moved back, to ``backward`` of its distance. ``restarts`` begin
    again at random, half as far from the item as its nearest success. In the end there are ``searches`` on
    the line from the item to its nearest success.
    """

    norm: Norm = "linf"
    steps: int = 100
    restarts: int = 0
    rivals: int = 9
    bias: float = 0.1
    overshoot: float = 1.05
    backward: float = 0.9
    searches: int = 3

    __call__ = called

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        return BALLS[self.norm].distance(x, clean)

    def _inside(self, goal: Part, clean: Tensor, limits: Limits, generator: torch.Generator) -> Point:
        nearest = Nearest(goal, clean, limits, self.norm)
        last = self._walk(nearest, clean)
        for _ in range(self.restarts):
            last = self._walk(nearest, self._start(nearest, last, generator))
        self._search(nearest)
        return nearest.point()

    def _walk(self, nearest: Nearest, x: Tensor) -> Tensor:
        """All steps of every item from points ``x`` (n, …); returns where they end."""
        clean, items, ball = nearest.clean, nearest.items, BALLS[self.norm]
        both = torch.cat([clean, clean])
        low, high = (ends.flatten(1) for ends in box(nearest.limits, both))
        for _ in range(self.steps):
            ahead, normal = nearest.boundary(x, items, rivals=self.rivals)
            from_clean = ahead + (normal * (clean - x)).flatten(1).sum(1)
            missing, points = -torch.cat([ahead, from_clean]), torch.cat([x, clean])
            normals = torch.cat([normal, normal]).flatten(1)
            step = least_step(self.norm, normals, missing, points.flatten(1), low, high).reshape(points.shape)
            size, size_from_clean = ball.distance(step, torch.zeros_like(step)).chunk(2)
            weight = size / (size + size_from_clean).clamp(min=torch.finfo(x.dtype).tiny)
            ends, ends_from_clean = (points + self.overshoot * step).chunk(2)
            x = nearest.limits.bound(
                ends.lerp(ends_from_clean, per_item(weight.clamp(max=self.bias), x)), clean
            )
            with torch.no_grad():
                succeeded = nearest.ask(x, items)[:, 0] > 0
            x = torch.where(per_item(succeeded, x), clean + self.backward * (x - clean), x)
        return x

    def _start(self, nearest: Nearest, last: Tensor, generator: torch.Generator) -> Tensor:
        """Random points half as far from the clean items as the nearest success, or the last walk's end."""
        clean, ball = nearest.clean, BALLS[self.norm]
        draw = ball.start(torch.zeros_like(clean), generator)
        size = torch.where(nearest.distance.isinf(), ball.distance(last, clean), nearest.distance)
        draw = draw * per_item(size / 2 / ball.distance(draw, torch.zeros_like(draw)), draw)
        return nearest.limits.bound(clean + draw, clean)

    @torch.no_grad()
    def _search(self, nearest: Nearest) -> None:
        """Where the lead is 0 between the clean item and its nearest success, by the rule of the secant."""
        items = nearest.distance.isfinite().nonzero()[:, 0]
        if len(items) == 0 or self.searches == 0:
            return
        inner, outer = nearest.clean[items], nearest.x[items]
        behind, ahead = (nearest.ask(x, items)[:, 0] for x in (inner, outer))
        for _ in range(self.searches):
            part = (behind / (behind - ahead)).nan_to_num(nan=1.0).clamp(0, 1)
            x = inner.lerp(outer, per_item(part + BEYOND * (1 - part), inner))
            now = nearest.ask(x, items)[:, 0]
            beyond = now > 0
            inner, outer = (
                torch.where(per_item(beyond, x), inner, x),
                torch.where(per_item(beyond, x), x, outer),
            )
            behind, ahead = torch.where(beyond, behind, now), torch.where(beyond, now, ahead)

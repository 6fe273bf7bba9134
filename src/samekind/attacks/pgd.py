"""Projected gradient ascent of Madry and others 2018."""

from dataclasses import KW_ONLY, dataclass

import torch
from torch import Tensor

from samekind.attacks.ascent import Plan, ascend
from samekind.attacks.attack import Point, called
from samekind.attacks.goal import Part
from samekind.attacks.limits import Limits
from samekind.attacks.paces import Steady
from samekind.attacks.regions import Region

#: The way of all steps together, in sizes of the region: far enough to cross it and come back.
WAY = 2.5


@dataclass(frozen=True)
class PGD:
    """``steps`` of the size ``step`` from a random point of the region; the worst point seen is returned.

    Without a ``step`` the whole way is 2.5 times the size of the region. ``restarts`` is how often it begins,
    for items that still hold; from the second time on always at random. ``momentum`` adds up gradients, each
    divided by its mean size (Dong and others 2018). ``stop`` ends the search for an item at its first
    success: no other item would be found wrong without it, but the value would be raised further.

    ``classic`` is PGD as other libraries have it, and weaker: the last point is returned instead of the
    worst, and a step may be spent on pixels that are at the end of their range.
    """

    region: Region
    _: KW_ONLY
    steps: int = 40
    step: float | None = None
    random_start: bool = True
    restarts: int = 1
    momentum: float = 0.0
    stop: bool = True
    classic: bool = False

    __call__ = called

    def _inside(self, goal: Part, clean: Tensor, limits: Limits, generator: torch.Generator) -> Point:
        step = WAY * self.region.epsilon / max(1, self.steps) if self.step is None else self.step
        plan = Plan(
            steps=self.steps,
            pace=lambda _: Steady(step, self.momentum),
            random_start=self.random_start,
            restarts=self.restarts,
            stop=self.stop,
            classic=self.classic,
        )
        return ascend(goal, clean, limits, generator, region=self.region, plan=plan)

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        return self.region.distance(x, clean)

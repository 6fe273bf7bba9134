"""Auto-PGD of Croce and Hein 2020: projected gradient ascent without a step size to choose."""

from dataclasses import KW_ONLY, dataclass

import torch
from torch import Tensor

from samekind.attacks.ascent import Plan, ascend
from samekind.attacks.attack import Point, called
from samekind.attacks.goal import Part, Revalued
from samekind.attacks.limits import Limits
from samekind.attacks.objectives import Objective
from samekind.attacks.paces import Halving
from samekind.attacks.regions import Region


@dataclass(frozen=True)
class APGD:
    """``steps`` that begin at twice the size of the region and are halved where they lead nowhere.

    ``objective`` is raised in place of the goal's own value: `cross_entropy`, or `logit_ratio` ("DLR"), which
    does not vanish where a model is very sure. ``restarts`` and ``stop`` as for `PGD`.
    """

    region: Region
    _: KW_ONLY
    steps: int = 100
    objective: Objective | None = None
    random_start: bool = True
    restarts: int = 1
    stop: bool = True

    __call__ = called

    def _inside(self, goal: Part, clean: Tensor, limits: Limits, generator: torch.Generator) -> Point:
        plan = Plan(
            steps=self.steps,
            pace=lambda u: Halving(u, 2 * self.region.epsilon, self.steps),
            random_start=self.random_start,
            restarts=self.restarts,
            stop=self.stop,
        )
        wanted = goal if self.objective is None else Revalued(goal, self.objective)
        return ascend(wanted, clean, limits, generator, self.region, plan)

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        return self.region.distance(x, clean)

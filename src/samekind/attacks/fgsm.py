"""The fast gradient (sign) method of Goodfellow and others 2015: one step from the item to the edge."""

from dataclasses import KW_ONLY, dataclass

import torch
from torch import Tensor

from samekind.attacks.ascent import Plan, ascend
from samekind.attacks.attack import Point, called
from samekind.attacks.goal import Part
from samekind.attacks.limits import Limits
from samekind.attacks.paces import Steady
from samekind.attacks.regions import Region


@dataclass(frozen=True)
class FGSM:
    """One step as large as the region. Fast and weak: a first look, no measure of robustness.

    With ``classic`` part of the step may be spent on pixels that are at the end of their range.
    """

    region: Region
    _: KW_ONLY
    classic: bool = False

    __call__ = called

    def _inside(self, goal: Part, clean: Tensor, limits: Limits, generator: torch.Generator) -> Point:
        """Nothing is random."""
        plan = Plan(steps=1, pace=lambda _: Steady(self.region.epsilon, 0.0), classic=self.classic)
        return ascend(goal, clean, limits, generator, region=self.region, plan=plan)

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        return self.region.distance(x, clean)

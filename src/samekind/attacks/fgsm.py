"""The fast gradient (sign) method of Goodfellow and others 2015: one step from the item to the edge."""

from dataclasses import KW_ONLY, dataclass
from functools import partial

import torch
from torch import Tensor

from samekind.attacks.ascent import Plan, ascend
from samekind.attacks.attack import Attacked, carried_out
from samekind.attacks.goal import Goal
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

    def __call__(
        self, goal: Goal, x: Tensor, *, limits: Limits, generator: torch.Generator | None = None
    ) -> Attacked:
        """Attack items (n, …); nothing is random."""
        plan = Plan(steps=1, pace=lambda _: Steady(self.region.epsilon, 0.0), classic=self.classic)
        inside = partial(ascend, region=self.region, plan=plan)
        return carried_out(inside, goal, x, limits=limits, generator=generator, distance=self.distance)

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        """The distance (n,) in the norm of the region."""
        return self.region.distance(x, clean)

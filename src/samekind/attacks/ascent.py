"""The one loop of the gradient attacks: step along the steepest direction, come back into the region."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from samekind.attacks.attack import Point
from samekind.attacks.goal import Goal, raised, reached, slope
from samekind.attacks.limits import Limits
from samekind.attacks.paces import Ground, Pace
from samekind.attacks.regions import Region
from samekind.attacks.regions.region import of, per_item
from samekind.errors import SettingError


@dataclass(frozen=True)
class Plan:
    """How the loop goes about it; the attacks say what the fields mean."""

    steps: int
    pace: Callable[[Tensor], Pace]
    """The pace of a climb that begins at these points."""
    random_start: bool = False
    restarts: int = 1
    stop: bool = True
    classic: bool = False
    """Nothing is noted on the way, so that ``stop`` does not matter."""

    def __post_init__(self) -> None:
        for name, count in (("steps", self.steps), ("restarts", self.restarts)):
            if count < 1:
                raise SettingError(f"{name}: expected at least 1, got {count}")


class Worst:
    """The worst point of every item so far: where the goal is reached, then where its value is highest."""

    def __init__(self, clean: Tensor) -> None:
        self.x = clean.clone()
        self.value = clean.new_full((len(clean),), -torch.inf)
        self.reached = torch.zeros(len(clean), dtype=torch.bool, device=clean.device)
        self.queries = torch.zeros(len(clean), dtype=torch.long, device=clean.device)

    def note(self, rows: Tensor, x: Tensor, value: Tensor, success: Tensor) -> None:
        """Take what was seen at ``x`` (m, …), points of the items ``rows`` (m,), where it is worse."""
        self.queries[rows] += 1
        known = self.reached[rows]
        worse = (success & ~known) | ((success == known) & (value > self.value[rows]))
        # Everything is written, the old where it stays: to pick rows, a device would have to be waited for.
        self.x[rows] = torch.where(per_item(worse, x), x, self.x[rows])
        self.value[rows] = torch.where(worse, value.to(x), self.value[rows])
        self.reached[rows] = torch.where(worse, success, self.reached[rows])


def ascend(
    goal: Goal, clean: Tensor, limits: Limits, generator: torch.Generator, region: Region, plan: Plan
) -> Point:
    """The worst points of the region that a plan finds."""
    worst = Worst(clean)
    for restart in range(plan.restarts):
        rows = torch.arange(len(clean), device=clean.device)
        if plan.stop and restart:
            rows = rows[~worst.reached]
        ground = Ground(of(clean, rows), region, limits, plan.classic)
        u = ground.clean
        if plan.random_start or restart:
            u = ground.back(region.start(u, generator))
        _climb(goal, rows, u, ground, worst, plan)
    return Point(worst.x, worst.queries)


def _climb(goal: Goal, rows: Tensor, u: Tensor, ground: Ground, worst: Worst, plan: Plan) -> None:
    """One climb from ``u``, for the items ``rows``."""
    pace = plan.pace(u)
    for _ in range(plan.steps):
        if not len(rows):
            return
        # The gradient is taken at valid inputs; the iterate itself may lie between two whole numbers.
        x = ground.valid(u)
        outcomes, value, gradient = slope(goal, x, rows)
        if not plan.classic:
            success = reached(goal, outcomes, rows)
            worst.note(rows, x, value, success)
            # One wait for the device a step: places are counted once, and then only looked up.
            if plan.stop and len(remaining := (~success).nonzero()[:, 0]) < len(rows):
                rows, ground, u = rows[remaining], ground.only(remaining), u[remaining]
                value, gradient = value[remaining], gradient[remaining]
                pace.drop(remaining)
        u = pace.advance(ground, u, value, gradient)
    x = ground.valid(u)
    if plan.classic:  # the last point alone counts; what is returned is judged in any case
        worst.x[rows] = x
        worst.queries[rows] += plan.steps
    elif len(rows):
        with torch.no_grad():
            outcomes = goal.outcomes(x, rows)
        worst.note(rows, x, raised(goal, outcomes, rows), reached(goal, outcomes, rows))

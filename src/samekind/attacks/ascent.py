"""The one loop of the gradient attacks: step along the steepest direction, come back into the region."""

from dataclasses import dataclass

import torch
from torch import Tensor

from samekind.attacks.attack import Point
from samekind.attacks.goal import Goal, Part, raised, reached, slope
from samekind.attacks.limits import Limits
from samekind.attacks.regions import Region
from samekind.attacks.regions.region import per_item


@dataclass(frozen=True)
class Plan:
    """How the loop goes about it; the attacks say what each field means."""

    steps: int
    step: float
    random_start: bool = False
    restarts: int = 1
    momentum: float = 0.0
    stop: bool = True
    last: bool = False


class Worst:
    """The worst point of every item so far: where the goal is reached, then where its value is highest."""

    def __init__(self, clean: Tensor) -> None:
        self.x = clean.clone()
        self.value = clean.new_full((len(clean),), -torch.inf)
        self.reached = torch.zeros(len(clean), dtype=torch.bool, device=clean.device)
        self.queries = torch.zeros(len(clean), dtype=torch.long, device=clean.device)

    def note(self, rows: Tensor, x: Tensor, value: Tensor, success: Tensor, *, always: bool = False) -> None:
        """Take what was seen at ``x`` (m, …), the points of items ``rows`` (m,), where it is worse."""
        self.queries[rows] += 1
        known = self.reached[rows]
        better = (success & ~known) | ((success == known) & (value > self.value[rows]))
        better = better | always
        rows = rows[better]
        self.x[rows], self.value[rows], self.reached[rows] = x[better], value[better], success[better]


def within(u: Tensor, clean: Tensor, region: Region, limits: Limits) -> Tensor:
    """A point of the region with valid numbers (whole ones apart), near ``u``.

    The projection is repeated after the limits, for regions that are not left unchanged by them.
    """
    u = limits.bound(region.project(u, clean), clean)
    return region.project(u, clean)


def ascend(
    goal: Part, clean: Tensor, limits: Limits, generator: torch.Generator, region: Region, plan: Plan
) -> Point:
    """The worst points of the region that a plan finds."""
    worst = Worst(clean)
    for _ in range(plan.restarts):
        rows = torch.arange(len(clean), device=clean.device)
        if plan.stop:
            rows = rows[~worst.reached]
        u = clean[rows]
        if plan.random_start:
            u = within(region.start(u, generator), u, region, limits)
        _climb(goal, clean, rows, u, worst, region, limits, plan)
    return Point(worst.x, worst.queries)


def _climb(
    goal: Goal,
    clean: Tensor,
    rows: Tensor,
    u: Tensor,
    worst: Worst,
    region: Region,
    limits: Limits,
    plan: Plan,
) -> None:
    """One start of the loop, from ``u``, for the items ``rows``."""
    velocity = torch.zeros_like(u)
    for _ in range(plan.steps):
        if not len(rows):
            return
        # The gradient is taken at valid inputs; the iterate itself may lie between two whole numbers.
        x = limits.clip(u, clean[rows])
        outcomes, value, gradient = slope(goal, x, rows)
        success = reached(goal, outcomes, rows)
        worst.note(rows, x, value, success)
        if plan.momentum:
            size = gradient.flatten(1).abs().mean(1).clamp_min(torch.finfo(u.dtype).tiny)
            velocity = plan.momentum * velocity + gradient / per_item(size, gradient)
        else:
            velocity = gradient
        u = within(u + plan.step * region.steepest(velocity), clean[rows], region, limits)
        if plan.stop and bool(success.any()):
            rows, u, velocity = rows[~success], u[~success], velocity[~success]
    if len(rows):
        x = limits.clip(u, clean[rows])
        with torch.no_grad():
            outcomes = goal.outcomes(x, rows)
            worst.note(rows, x, raised(goal, outcomes, rows), reached(goal, outcomes, rows), always=plan.last)

"""The loop of all gradient attacks: a step along the steepest direction, then back into the region."""

from collections.abc import Callable
from copy import copy
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

#: Steps on a GPU between two checks of which items are done; each check waits for the GPU.
RARELY = 4


@dataclass(frozen=True)
class Plan:
    """The settings of the loop; the attacks describe the fields."""

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
    """The worst point of every item so far: points that reach the goal come first, then those with the
    highest value.
    """

    def __init__(self, clean: Tensor) -> None:
        self.x = clean
        self.value = clean.new_full((len(clean),), -torch.inf)
        self.reached = torch.zeros(len(clean), dtype=torch.bool, device=clean.device)
        self.queries = torch.zeros(len(clean), dtype=torch.long, device=clean.device)

    def see(self, x: Tensor, value: Tensor, success: Tensor, *, stop: bool = True) -> None:
        """Take the points ``x`` (n, …) that are worse than those so far; with ``stop`` none after a success.
        All rows are written, unchanged ones with the old values: selecting rows would wait for the device.
        """
        value, going = value.to(self.value), ~self.reached
        higher = value > self.value
        worse = going & (success | higher)
        if not stop:  # of two successes the one of the higher value
            worse = worse | (self.reached & success & higher)
        self.queries = self.queries + (going if stop else 1)
        self.x = torch.where(per_item(worse, x), x, self.x)
        self.value = torch.where(worse, value, self.value)
        self.reached = self.reached | success

    def tried(
        self, ground: Ground, rows: Tensor, x: Tensor, value: Tensor, success: Tensor
    ) -> tuple[Ground, Tensor]:
        """Apply `see` to the points tried for the items ``rows``; returns the items that go on, and where
        their iterates may go.
        """
        part = self.only(rows)
        part.see(x, value, success)
        self.put(rows, part)
        remaining = (~success).nonzero()[:, 0]
        if len(remaining) == len(rows):
            return ground, rows
        return ground.only(remaining), rows[remaining]

    def only(self, rows: Tensor) -> "Worst":
        """The worst points of some items."""
        part = copy(self)
        part.x, part.value, part.reached, part.queries = (
            of(values, rows) for values in (self.x, self.value, self.reached, self.queries)
        )
        return part

    def put(self, rows: Tensor, part: "Worst") -> None:
        """Write back the worst points of the items that `only` gave."""
        self.x = self.x.index_copy(0, rows, part.x)
        self.value = self.value.index_copy(0, rows, part.value)
        self.reached = self.reached.index_copy(0, rows, part.reached)
        self.queries = self.queries.index_copy(0, rows, part.queries)


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


def how_often(device: torch.device) -> int:
    """After so many steps the items that are done are dropped: on the CPU after each."""
    return 1 if device.type == "cpu" else RARELY


def _climb(goal: Goal, rows: Tensor, u: Tensor, ground: Ground, worst: Worst, plan: Plan) -> None:
    """One climb from ``u``, for the items ``rows``."""
    pace, part = plan.pace(u), worst.only(rows)
    often = how_often(u.device)
    for step in range(1, plan.steps + 1):
        if not len(rows):
            return
        # The gradient is taken at valid inputs; the iterate itself may lie between two whole numbers.
        x = ground.valid(u)
        outcomes, value, gradient = slope(goal, x, rows)
        if not plan.classic:
            part.see(x, value, reached(goal, outcomes, rows), stop=plan.stop)
            if plan.stop and step % often == 0:
                remaining = (~part.reached).nonzero()[:, 0]
                if len(remaining) < len(rows):
                    worst.put(rows, part)
                    rows, ground, part = rows[remaining], ground.only(remaining), part.only(remaining)
                    u, value, gradient = u[remaining], value[remaining], gradient[remaining]
                    pace.drop(remaining)
        u = pace.advance(ground, u, value, gradient)
    x = ground.valid(u)
    if plan.classic:  # the last point alone counts; what is returned is judged in any case
        part.x, part.queries = x, part.queries + plan.steps
    elif len(rows):
        with torch.no_grad():
            outcomes = goal.outcomes(x, rows)
        part.see(x, raised(goal, outcomes, rows), reached(goal, outcomes, rows), stop=plan.stop)
    worst.put(rows, part)

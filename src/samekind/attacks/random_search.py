"""Random points of a region: the attack that every other must beat."""

from dataclasses import KW_ONLY, dataclass

import torch
from torch import Tensor

from samekind.attacks.ascent import Worst
from samekind.attacks.attack import Attacked, Point, carried_out
from samekind.attacks.goal import Goal, Part, raised, reached
from samekind.attacks.limits import Limits
from samekind.attacks.paces import Ground
from samekind.attacks.regions import Region


@dataclass(frozen=True)
class RandomSearch:
    """The worst of ``tries`` random points.

    An attack that finds less than this one does not measure robustness.
    """

    region: Region
    _: KW_ONLY
    tries: int = 100

    def __call__(
        self, goal: Goal, x: Tensor, *, limits: Limits, generator: torch.Generator | None = None
    ) -> Attacked:
        """Attack items (n, …)."""
        return carried_out(self._inside, goal, x, limits=limits, generator=generator, distance=self.distance)

    def _inside(self, goal: Part, clean: Tensor, limits: Limits, generator: torch.Generator) -> Point:
        """The worst points."""
        worst = Worst(clean)
        ground, rows = Ground(clean, self.region, limits), torch.arange(len(clean), device=clean.device)
        for _ in range(self.tries):
            x = ground.valid(ground.back(self.region.start(ground.clean, generator)))
            with torch.no_grad():
                outcomes = goal.outcomes(x, rows)
            success = reached(goal, outcomes, rows)
            part = worst.only(rows)
            part.see(x, raised(goal, outcomes, rows), success)
            worst.put(rows, part)
            remaining = (~success).nonzero()[:, 0]
            if not len(remaining):
                break
            if len(remaining) < len(rows):
                ground, rows = ground.only(remaining), rows[remaining]
        return Point(worst.x, worst.queries)

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        """The distance (n,) in the norm of the region."""
        return self.region.distance(x, clean)

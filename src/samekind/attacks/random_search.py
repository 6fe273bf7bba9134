"""Random points of a region: the attack that every other must beat."""

from dataclasses import KW_ONLY, dataclass

import torch
from torch import Tensor

from samekind.attacks.ascent import Worst
from samekind.attacks.attack import Point, called
from samekind.attacks.goal import Part, raised, reached
from samekind.attacks.limits import Limits
from samekind.attacks.paces import Ground
from samekind.attacks.regions import Region


@dataclass(frozen=True)
class RandomSearch:
    """The worst of ``tries`` random points. An attack that finds less does not measure robustness."""

    region: Region
    _: KW_ONLY
    tries: int = 100

    __call__ = called

    def _inside(self, goal: Part, clean: Tensor, limits: Limits, generator: torch.Generator) -> Point:
        worst, rows = Worst(clean), torch.arange(len(clean), device=clean.device)
        ground = Ground(clean, self.region, limits)
        for _ in range(self.tries):
            x = ground.valid(ground.back(self.region.start(ground.clean, generator)))
            with torch.no_grad():
                outcomes = goal.outcomes(x, rows)
            success = reached(goal, outcomes, rows)
            ground, rows = worst.tried(ground, rows, x, raised(goal, outcomes, rows), success)
            if not len(rows):
                break
        return Point(worst.x, worst.queries)

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        return self.region.distance(x, clean)

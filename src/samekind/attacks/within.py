"""An attack for the least change, as one inside a region: what it finds outside does not count."""

from dataclasses import dataclass

import torch
from torch import Tensor

from samekind.attacks.attack import Attack, Point, called
from samekind.attacks.goal import Part
from samekind.attacks.limits import Limits
from samekind.attacks.regions import Region
from samekind.attacks.regions.region import per_item


@dataclass(frozen=True)
class Within:
    """An ``attack``, such as `FAB`, whose successes count only inside a ``region``; other items stay clean.

    So it can be one of `Several` attacks with others in that region, as FAB is in AutoAttack.
    """

    attack: Attack
    region: Region

    __call__ = called

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        return self.region.distance(x, clean)

    def _inside(self, goal: Part, clean: Tensor, limits: Limits, generator: torch.Generator) -> Point:
        attacked = self.attack(goal, clean, limits=limits, generator=generator)
        counts = attacked.succeeded & self.region.contains(attacked.x, clean)
        return Point(torch.where(per_item(counts, clean), attacked.x, clean), attacked.queries)

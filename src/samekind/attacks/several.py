"""Several attacks as one: one after the other, or the worst of them for every item."""

from dataclasses import dataclass

import torch
from torch import Tensor

from samekind.attacks.attack import Attack, Point, called
from samekind.attacks.goal import Part, raised
from samekind.attacks.limits import Limits
from samekind.errors import SettingError


@dataclass(frozen=True)
class Several:
    """Several attacks of one norm, the cheapest first; each gets what is still right, as in AutoAttack.

    With ``on_all`` every attack gets all items, and the worst of them counts: the nearest success; where none
    succeeds, the point of the highest value. Beside attacks in a region, one for the least change stands
    `Within` that region.
    """

    attacks: tuple[Attack, ...]
    on_all: bool = False

    def __post_init__(self) -> None:
        if not self.attacks:
            raise SettingError("expected at least one attack, got none")

    __call__ = called

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        return self.attacks[0].distance(x, clean)

    def _inside(self, goal: Part, clean: Tensor, limits: Limits, generator: torch.Generator) -> Point:
        x, queries = clean.clone(), torch.zeros(len(clean), dtype=torch.long, device=clean.device)
        succeeded = torch.zeros_like(queries, dtype=torch.bool)
        # How bad a point is: for a success minus its distance, otherwise the value.
        badness = clean.new_full((len(clean),), -torch.inf)
        for attack in self.attacks:
            rows = torch.arange(len(clean), device=clean.device)
            rows = rows if self.on_all else rows[~succeeded]
            if not len(rows):
                break
            part = Part(goal, rows)
            attacked = attack(part, clean[rows], limits=limits, generator=generator)
            queries[rows] += attacked.queries
            places = torch.arange(len(rows), device=clean.device)
            with torch.no_grad():
                value = raised(part, part.outcomes(attacked.x, places), places)
            bad = torch.where(attacked.succeeded, -attacked.distance, value.to(clean))
            worse = (attacked.succeeded & ~succeeded[rows]) | (
                (attacked.succeeded == succeeded[rows]) & (bad > badness[rows])
            )
            changed = rows[worse]
            x[changed], badness[changed] = attacked.x[worse], bad[worse]
            succeeded[changed] = attacked.succeeded[worse]
        return Point(x, queries)

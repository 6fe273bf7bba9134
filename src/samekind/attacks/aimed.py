"""A targeted attack in all likely directions: stronger than "anything but the truth" on many models."""

from dataclasses import KW_ONLY, dataclass

import torch
from torch import Tensor

from samekind.attacks.attack import Attack, Point, called
from samekind.attacks.goal import Part, Targeted
from samekind.attacks.limits import Limits


@dataclass(frozen=True)
class Aimed:
    """An ``attack`` towards each of the ``count`` likeliest wrong outcomes in turn, until one succeeds.

    With `APGD` this is APGD-T of AutoAttack. A goal that has a target is attacked as it is.
    """

    attack: Attack
    _: KW_ONLY
    count: int = 9

    __call__ = called

    def _inside(self, goal: Part, clean: Tensor, limits: Limits, generator: torch.Generator) -> Point:
        """The first success, or else the point of the last attempt."""
        rows = torch.arange(len(clean), device=clean.device)
        with torch.no_grad():
            outcomes = goal.outcomes(clean, rows)
        if goal.target is not None or outcomes.shape[1] == 1:
            attacked = self.attack(goal, clean, limits=limits, generator=generator)
            return Point(attacked.x, attacked.queries)
        likeliest = outcomes.scatter(1, goal.truth[:, None], -torch.inf).argsort(1, descending=True)
        x, queries = clean.clone(), torch.ones_like(rows)
        for place in range(min(self.count, outcomes.shape[1] - 1)):
            part = Targeted(Part(goal, rows), likeliest[rows, place])
            attacked = self.attack(part, clean[rows], limits=limits, generator=generator)
            x[rows] = attacked.x
            queries[rows] += attacked.queries
            rows = rows[~attacked.succeeded]
        return Point(x, queries)

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        return self.attack.distance(x, clean)

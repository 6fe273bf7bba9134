"""Attacks without access to the model: made on a surrogate, judged on the victim."""

from dataclasses import dataclass

import torch
from torch import Tensor

from samekind.attacks.attack import Attack, Point, called
from samekind.attacks.goal import Goal, Part
from samekind.attacks.limits import Limits


@dataclass(frozen=True)
class Transfer:
    """An ``attack`` on a ``surrogate`` goal about the same items, whose result is tried on the victim.

    An attack that stops at its first success fools the surrogate narrowly, and the victim seldom. With
    ``Raised(surrogate)`` the surrogate's value is raised to the end. Queries are those of the surrogate.
    """

    attack: Attack
    surrogate: Goal

    __call__ = called

    def _inside(self, goal: Part, clean: Tensor, limits: Limits, generator: torch.Generator) -> Point:
        part = Part(self.surrogate, goal.items)
        attacked = self.attack(part, clean, limits=limits, generator=generator)
        return Point(attacked.x, attacked.queries)

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        return self.attack.distance(x, clean)

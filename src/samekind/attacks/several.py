"""Several attacks as one: the worst of them for every item, or one after the other."""

from collections.abc import Sequence as Several
from dataclasses import dataclass

import torch
from torch import Tensor

from samekind.attacks.attack import Attack, Attacked, Point, carried_out
from samekind.attacks.goal import Goal, Part, raised
from samekind.attacks.limits import Limits
from samekind.errors import SettingError


@dataclass(frozen=True)
class WorstOf:
    """The worst of several attacks of one norm for every item: the nearest success; where none succeeds, the
    point of the highest value.
    """

    attacks: tuple[Attack, ...]

    def __post_init__(self) -> None:
        _expect_some(self.attacks)

    def __call__(
        self, goal: Goal, x: Tensor, *, limits: Limits, generator: torch.Generator | None = None
    ) -> Attacked:
        """Attack items (n, …)."""
        return carried_out(self._inside, goal, x, limits=limits, generator=generator, distance=self.distance)

    def _inside(self, goal: Part, clean: Tensor, limits: Limits, generator: torch.Generator) -> Point:
        """Every attack on all items."""
        return _tried(self.attacks, goal, clean, limits, generator, again=True)

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        """The distance (n,) in the norm of the first attack."""
        return self.attacks[0].distance(x, clean)


@dataclass(frozen=True)
class Sequence:
    """Several attacks of one norm, the cheapest first; each gets what is still right, as in AutoAttack."""

    attacks: tuple[Attack, ...]

    def __post_init__(self) -> None:
        _expect_some(self.attacks)

    def __call__(
        self, goal: Goal, x: Tensor, *, limits: Limits, generator: torch.Generator | None = None
    ) -> Attacked:
        """Attack items (n, …)."""
        return carried_out(self._inside, goal, x, limits=limits, generator=generator, distance=self.distance)

    def _inside(self, goal: Part, clean: Tensor, limits: Limits, generator: torch.Generator) -> Point:
        """Every attack on what the earlier ones did not change."""
        return _tried(self.attacks, goal, clean, limits, generator, again=False)

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        """The distance (n,) in the norm of the first attack."""
        return self.attacks[0].distance(x, clean)


def _expect_some(attacks: Several[Attack]) -> None:
    if not attacks:
        raise SettingError("expected at least one attack, got none")


def _tried(
    attacks: Several[Attack],
    goal: Part,
    clean: Tensor,
    limits: Limits,
    generator: torch.Generator,
    *,
    again: bool,
) -> Point:
    """The worst points of several attacks; ``again`` says whether items with a success are tried again."""
    x, queries = clean.clone(), torch.zeros(len(clean), dtype=torch.long, device=clean.device)
    succeeded = torch.zeros_like(queries, dtype=torch.bool)
    # How bad a point is: for a success minus its distance, otherwise the value.
    badness = clean.new_full((len(clean),), -torch.inf)
    for attack in attacks:
        rows = torch.arange(len(clean), device=clean.device)
        rows = rows if again else rows[~succeeded]
        part = Part(goal, rows)
        attacked = attack(part, clean[rows], limits=limits, generator=generator)
        queries[rows] += attacked.queries
        places = torch.arange(len(rows), device=clean.device)
        with torch.no_grad():
            value = raised(part, part.outcomes(attacked.x, places), places) if len(rows) else badness[:0]
        bad = torch.where(attacked.succeeded, -attacked.distance, value.to(clean))
        worse = (attacked.succeeded & ~succeeded[rows]) | (
            (attacked.succeeded == succeeded[rows]) & (bad > badness[rows])
        )
        changed = rows[worse]
        x[changed], badness[changed] = attacked.x[worse], bad[worse]
        succeeded[changed] = attacked.succeeded[worse]
    return Point(x, queries)

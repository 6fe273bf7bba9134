"""One goal under attack at several epsilons, with the checks of the attack."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.attacks import (
    APGD,
    L2,
    PGD,
    Attack,
    Goal,
    Limits,
    Raised,
    RandomSearch,
    Region,
    Relative,
    Several,
    Transfer,
    logit_ratio,
)
from samekind.attacks.goal import reached
from samekind.attacks.untouched import untouched
from samekind.evaluation.soundness import (
    Check,
    Soundness,
    epsilons_check,
    random_check,
    steps_check,
    transfer_check,
    unlimited_check,
)
from samekind.measures.robustness import worst_so_far, written_epsilon

#: A run that must not be stronger than the whole one has this part of its steps.
SHORTER = 5
#: Items that go through the model at a time.
BATCH = 512

#: Makes the attack that is carried out: region, steps, restarts.
Maker = Callable[[Region, int, int], Attack]


def pgd_and_apgd(region: Region, steps: int, restarts: int) -> Attack:
    """PGD, then APGD on what is left, by the ratio of logits, which stays where a model is very sure."""
    by_ratio = APGD(region, steps=steps, restarts=restarts, objective=logit_ratio)
    return Several((PGD(region, steps=steps, restarts=restarts), by_ratio))


@dataclass(frozen=True)
class Strength:
    """How hard attacks try. ``epsilons`` rise from one above 0."""

    epsilons: tuple[float, ...]
    steps: int = 50
    restarts: int = 1
    seed: int = 0
    make: Maker = pgd_and_apgd

    def attack(self, region: Region, *, steps: int | None = None) -> Attack:
        """The attack in a region, with these steps or others."""
        return self.make(region, self.steps if steps is None else steps, self.restarts)


@dataclass(frozen=True, eq=False)
class Field:
    """Where attacks take place: the items (n, …), the kind of region, the valid inputs, how hard they try,
    and another model, by its goal and its name, that examples may come from.
    """

    x: Tensor
    region: Region
    limits: Limits
    strength: Strength
    surrogate: tuple[Goal, str] | None = None

    def largest_epsilon(self) -> float | None:
        """An epsilon that lets an attack reach every valid input; None where inputs have no limits."""
        low, high = (
            torch.as_tensor(end, dtype=self.x.dtype).to(self.x.device).expand(self.x[:1].shape)
            for end in (self.limits.low, self.limits.high)
        )
        if isinstance(self.region, Relative):  # in the size of the smallest item
            distance = float(L2(1.0).distance(high, low) / self.region.sizes(self.x.nan_to_num(0.0)).min())
        else:
            distance = float(self.region.distance(high, low))
        return distance if distance < torch.inf else None


class UnderAttack(NamedTuple):
    """Which of n items stay right: without an attack, and at each epsilon against all attacks up to it.
    ``x`` are the items attacked at each epsilon; the checks were made at the one in place ``checked``.
    """

    clean: Tensor  # (n,)
    right: Tensor  # (epsilons, n)
    x: list[Tensor]  # epsilons times (n, …)
    checked: int
    soundness: Soundness


def under_attack(
    goal: Goal, field: Field, *, judge: Callable[[Tensor], Tensor] | None = None, unlimited: bool = True
) -> UnderAttack:
    """Attack the items at every epsilon and check the attack at the epsilon that leaves about half of what
    was right. ``unlimited`` also tries the largest epsilon there is. ``judge`` says which items (n, …) are
    right, (n,); by default those whose goal is not reached.
    """
    judge = judge or (lambda x: ~_reached(goal, x))
    strength = field.strength

    def run(attack: Attack) -> tuple[Tensor, Tensor]:
        generator = torch.Generator().manual_seed(strength.seed)
        x = attack(goal, field.x, limits=field.limits, generator=generator).x
        return x, judge(x)

    clean = judge(field.x)
    runs = [run(strength.attack(field.region.resized(epsilon))) for epsilon in strength.epsilons]
    right = torch.stack([remaining for _, remaining in runs])
    checked = int((right.double().mean(1) - clean.double().mean() / 2).abs().argmin())
    by_epsilon = [
        (written_epsilon(size), remaining)
        for size, remaining in zip(strength.epsilons, right.clone(), strict=True)
    ]
    if len(by_epsilon) == 1:  # a single one is compared with its half
        half = strength.epsilons[0] / 2
        by_epsilon.insert(0, (written_epsilon(half), run(strength.attack(field.region.resized(half)))[1]))
        right[0] &= by_epsilon[0][1]
    checks = [epsilons_check(by_epsilon, seed=strength.seed)]
    at = field.region.resized(strength.epsilons[checked])
    for still_right, check in _checks_at(lambda attack: run(attack)[1], at, right[checked].clone(), field):
        right[checked] &= still_right  # what any run broke at this epsilon is broken
        checks.append(check)
    if unlimited and (largest := field.largest_epsilon()) is not None:
        _, last = run(strength.attack(field.region.resized(largest)))
        checks.append(unlimited_check(last, epsilon=written_epsilon(largest)))
    return UnderAttack(clean, worst_so_far(right), [x for x, _ in runs], checked, Soundness(tuple(checks)))


def _checks_at(
    run: Callable[[Attack], Tensor], region: Region, right: Tensor, field: Field
) -> Iterator[tuple[Tensor, Check]]:
    """Other attacks in a region: which items (n,) are right against each, and what that shows."""
    strength = field.strength
    if strength.steps > 1:
        shorter = max(1, strength.steps // SHORTER)
        fewer = run(strength.attack(region, steps=shorter))
        yield fewer, steps_check([(shorter, fewer), (strength.steps, right)], seed=strength.seed)
    random_right = run(RandomSearch(region, tries=strength.steps))
    yield random_right, random_check(right, random_right, seed=strength.seed)
    if field.surrogate is not None:
        goal, name = field.surrogate
        transferred = run(Transfer(strength.attack(region), Raised(goal)))
        yield transferred, transfer_check(right, transferred, source=name, seed=strength.seed)


def _reached(goal: Goal, x: Tensor) -> Tensor:
    """Which items have an outcome that is not right (n,), on the CPU."""
    items = torch.arange(len(x), device=x.device)
    with untouched(goal.model), torch.no_grad():
        parts = [reached(goal, goal.outcomes(x[part], part), part) for part in torch.split(items, BATCH)]
    return torch.cat(parts).cpu()

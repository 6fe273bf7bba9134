"""How far a gradient attack goes in a step: always the same way, or halved where it leads nowhere."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import torch
from torch import Tensor

from samekind.attacks.feasible import feasible
from samekind.attacks.limits import Limits
from samekind.attacks.regions import Linf, Region, Relative
from samekind.attacks.regions.region import per_item


@dataclass(frozen=True)
class Ground:
    """Where the iterates of n items may go."""

    clean: Tensor
    region: Region
    limits: Limits
    classic: bool = False

    @cached_property
    def box(self) -> tuple[Tensor, Tensor] | None:
        """The ends (n, …) of the region and the limits together, where that is a box: in the Linf ball."""
        if not isinstance(self.region, Linf):
            return None
        size, bound = self.region.epsilon, self.limits.bound
        return bound(self.clean - size, self.clean), bound(self.clean + size, self.clean)

    def back(self, u: Tensor) -> Tensor:
        """A point of the region with valid numbers (whole ones apart), near ``u``."""
        if self.box is not None:
            return u.clamp(*self.box)
        return feasible(u, self.clean, self.region, self.limits.bound)

    def valid(self, u: Tensor) -> Tensor:
        """A valid input of the region near an iterate that came `back`: itself without whole numbers."""
        return u if self.limits.integer is None else feasible(u, self.clean, self.region, self.limits.clip)

    def stepped(self, u: Tensor, size: float | Tensor, direction: Tensor) -> Tensor:
        """One step of a size along the steepest way of a direction that the limits leave free."""
        if self.box is None:  # in a box every coordinate goes for itself: what cannot move takes nothing
            direction = self.limits.free(direction, u, classic=self.classic)
        step = self.region.steepest(direction)
        if isinstance(self.region, Relative):
            step = step * per_item(self.region.sizes(self.clean), step)
        return self.back(u + size * step if isinstance(size, Tensor) else u.add(step, alpha=size))

    def only(self, remaining: Tensor) -> "Ground":
        """The same for some of the items."""
        return replace(self, clean=self.clean[remaining])


class Pace(Protocol):
    """The state of one climb: told what was seen at ``u``, it gives the next ``u``."""

    def advance(self, ground: Ground, u: Tensor, value: Tensor, gradient: Tensor) -> Tensor:
        """The next iterates (n, …), from the values (n,) and gradients (n, …) at ``u``."""
        ...

    def drop(self, remaining: Tensor) -> None:
        """Forget the items that are done."""
        ...


class Steady:
    """Steps of one size; with ``momentum`` along the sum of earlier gradients, each divided by its mean."""

    def __init__(self, step: float, momentum: float) -> None:
        self.step = step
        self.momentum = momentum
        self.velocity: Tensor | None = None

    def advance(self, ground: Ground, u: Tensor, value: Tensor, gradient: Tensor) -> Tensor:
        del value
        if self.momentum:
            size = gradient.flatten(1).abs().mean(1).clamp_min(torch.finfo(u.dtype).tiny)
            gradient = gradient / per_item(size, gradient)
            if self.velocity is not None:
                gradient = gradient + self.momentum * self.velocity
            self.velocity = gradient
        return ground.stepped(u, self.step, gradient)

    def drop(self, remaining: Tensor) -> None:
        if self.velocity is not None:
            self.velocity = self.velocity[remaining]


class Halving:
    """Croce and Hein 2020: momentum 0.75, and at checkpoints the step is halved, and the climb goes on from
    the best point, where fewer than 75% of the steps raised the value, or step and best value stayed.
    """

    def __init__(self, u: Tensor, step: float, steps: int) -> None:
        count = len(u)
        self.count = 0
        self.checkpoints = checkpoints(steps)
        self.before = 0  # the last checkpoint
        self.step = u.new_full((count,), step)
        self.previous = u
        self.value = u.new_full((count,), -torch.inf)
        self.raises = u.new_zeros(count)
        self.best, self.slope = u, torch.zeros_like(u)
        self.highest = u.new_full((count,), -torch.inf)
        self.halved = torch.ones(count, dtype=torch.bool, device=u.device)
        self.highest_before = self.highest.clone()

    def advance(self, ground: Ground, u: Tensor, value: Tensor, gradient: Tensor) -> Tensor:
        """One step with momentum; at a checkpoint maybe from the best point so far."""
        self.raises += value > self.value
        self.value = value
        better = value > self.highest
        self.best = torch.where(per_item(better, u), u, self.best)
        self.slope = torch.where(per_item(better, u), gradient, self.slope)
        self.highest = torch.where(better, value, self.highest)
        if self.count in self.checkpoints:
            u, gradient = self._checked(u, gradient)
        next_u = ground.stepped(u, per_item(self.step, u), gradient)
        if self.count:
            next_u = ground.back(u + MOMENTUM * (next_u - u) + (1 - MOMENTUM) * (u - self.previous))
        self.previous = u
        self.count += 1
        return next_u

    def _checked(self, u: Tensor, gradient: Tensor) -> tuple[Tensor, Tensor]:
        """The points and gradients to go on from at a checkpoint; steps are halved."""
        seldom = self.raises < ENOUGH * (self.count - self.before)
        stuck = ~self.halved & (self.highest <= self.highest_before)
        self.halved = seldom | stuck
        self.step = torch.where(self.halved, self.step / 2, self.step)
        self.highest_before = self.highest
        self.raises = torch.zeros_like(self.raises)
        self.before = self.count
        back = per_item(self.halved, u)
        return torch.where(back, self.best, u), torch.where(back, self.slope, gradient)

    def drop(self, remaining: Tensor) -> None:
        for name, state in vars(self).items():
            if isinstance(state, Tensor):
                setattr(self, name, state[remaining])


#: The share of the new step, against that of the last way.
MOMENTUM = 0.75
#: The share of steps that must raise the value.
ENOUGH = 0.75


def checkpoints(steps: int) -> set[int]:
    """The steps at which the way is checked: after 22% of all, then at distances that shrink to 6%.

    >>> sorted(checkpoints(100))
    [22, 41, 57, 70, 80, 87, 93, 99]
    """
    shares = [0.0, 0.22]
    while shares[-1] < 1:
        shares.append(shares[-1] + max(shares[-1] - shares[-2] - 0.03, 0.06))
    return {at for share in shares[1:] if (at := math.ceil(round(share * steps, 9))) < steps}

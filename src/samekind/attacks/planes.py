"""The least step from a point to a plane, inside the valid range of the inputs: exact for l1, l2 and linf.

A step d has sum(normal x d) = amount, and low <= x + d <= high: a coordinate has some room to the plane. For
linf each goes min(room, t), for l2 min(room, t x |normal|), with the same t for all. For l1 those with the
steepest normal go first, as far as their room.
Croce & Hein, "Minimally distorted Adversarial Examples with a Fast Adaptive Boundary Attack", ICML 2020.
"""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

Norm = Literal["l1", "l2", "linf"]
#: The order of the norm that measures a gradient where the named one measures the step.
DUAL: dict[Norm, float] = {"l1": torch.inf, "l2": 2, "linf": 1}
#: Room enough where the range has no end: sums stay finite.
ENDLESS = 1e12


def least_step(norm: Norm, normal: Tensor, amount: Tensor, x: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Steps (n, d) from the points x (n, d) to the planes, as short as the norm allows.

    A positive amount (n,) is what is missing along the normal (n, d), a negative one what is too much. Where
    the plane does not meet the range, the step leads to the corner that is nearest to it.
    """
    normal = torch.where(amount[:, None] < 0, -normal, normal)
    slope, amount = normal.abs(), amount.abs()
    room = torch.where(normal > 0, high - x, x - low).clamp(min=0, max=ENDLESS) * (slope > 0)
    reach = steepest_first(slope, room, amount) if norm == "l1" else together(norm, slope, room, amount)
    return normal.sign() * reach


def together(norm: Norm, slope: Tensor, room: Tensor, amount: Tensor) -> Tensor:
    """How far every coordinate goes for l2 and linf: min(room, t x pace), t the least that gives the amount.

    At the sorted t at which a coordinate stops, what it and its forerunners gave is known, and the rest gives
    t times its paces: a line between two such t.
    """
    pace = slope if norm == "l2" else torch.ones_like(slope)
    stops, order = (room / pace).nan_to_num(nan=0.0, posinf=0.0).sort(dim=1)
    given = (slope * room).gather(1, order).cumsum(dim=1)
    rates = (slope * pace).gather(1, order)
    running = rates.flip(1).cumsum(dim=1).flip(1)  # of this coordinate and all that stop later
    reached = given + stops * (running - rates)
    last = torch.searchsorted(reached, amount[:, None]).clamp(max=slope.shape[1] - 1)
    before = torch.where(last > 0, given.gather(1, (last - 1).clamp(min=0)), 0.0)
    t = (amount[:, None] - before) / running.gather(1, last).clamp(min=torch.finfo(slope.dtype).tiny)
    return torch.minimum(room, t.clamp(min=0).minimum(stops[:, -1:]) * pace)


def steepest_first(slope: Tensor, room: Tensor, amount: Tensor) -> Tensor:
    """How far every coordinate goes for l1: the steepest their whole room, one a part of it, the rest not."""
    steep, order = slope.sort(dim=1, descending=True)
    room = room.gather(1, order)
    before = F.pad((steep * room).cumsum(dim=1)[:, :-1], (1, 0))
    missing = (amount[:, None] - before).clamp(min=0)
    part = (missing / steep.clamp(min=torch.finfo(slope.dtype).tiny)).minimum(room)
    return torch.zeros_like(room).scatter(1, order, part)

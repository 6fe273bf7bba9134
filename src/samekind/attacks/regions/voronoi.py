"""A ball cut with the Voronoi cell of its item: only points that are nearer to the item than to any other
one.

Two balls around items of two classes may overlap; no classifier is right on both, so the standard adversarial
accuracy asks for the impossible. Cells never overlap. With the cells of all training items, the adversarial
accuracy is the Voronoi-epsilon one, and without a limit to epsilon global robustness.

    region = Voronoi(L2(0.5), Neighbours(train.inputs))

attacks items of the training data; an item of no data has the cell it would have among them. For global
robustness take an epsilon of the whole valid range: the largest distance of two valid inputs.

Kim, "On the Significance of Distance in Machine Learning", 2023, paper III.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from samekind.attacks.regions.l1 import L1
from samekind.attacks.regions.l2 import L2
from samekind.attacks.regions.linf import Linf
from samekind.attacks.regions.neighbours import Near, Neighbours, apart
from samekind.attacks.regions.region import per_item
from samekind.errors import SettingError

ORDERS: dict[type, float] = {L1: 1.0, L2: 2.0, Linf: torch.inf}
#: The cell is open. A point counts as inside from this share of the distance of the two items on, and a point
#: that is projected is put at twice as much.
CLEAR = 5e-6
#: Slides along walls before a point is pulled towards its item, and halvings of an interval.
ROUNDS, HALVINGS = 10, 40


@dataclass(frozen=True)
class Voronoi:
    """The open Voronoi cell of every item among all data, cut with a ``ball``: `L1`, `L2` or `Linf`, whose
    norm also measures which item is nearest. Raises SettingError for another ball.
    """

    ball: L1 | L2 | Linf
    neighbours: Neighbours

    def __post_init__(self) -> None:
        if type(self.ball) not in ORDERS:
            raise SettingError(f"a Voronoi cell is cut with L1, L2 or Linf, got {type(self.ball).__name__}")

    @property
    def epsilon(self) -> float:
        return self.ball.epsilon

    @property
    def order(self) -> float:
        """The order of the norm: 1, 2 or infinity."""
        return ORDERS[type(self.ball)]

    def project(self, x: Tensor, clean: Tensor) -> Tensor:
        """Points of the region near ``x``: moved to the ball and, away from nearer items, to the walls of the
        cell; last, where that is not enough, towards the clean item to where the cell begins.

        The last step alone would be enough to stay inside: a cell has no wall between its item and a point of
        it. But an attack would then not slide along a wall, and miss what lies at its end.
        """
        x = self.ball.project(x, clean)
        near = self._near(clean)
        outside = self._outside(x, clean, near).any(1).nonzero()[:, 0]
        if not len(outside):
            return x
        projected = x.clone()
        part = Near(near.points, near.distances[outside])
        slid = self._slide(x[outside], clean[outside], part)
        projected[outside] = self._pulled(slid, clean[outside], part)
        return projected

    def steepest(self, gradient: Tensor) -> Tensor:
        return self.ball.steepest(gradient)

    def start(self, clean: Tensor, generator: torch.Generator) -> Tensor:
        """A random point of the ball, moved into the cell."""
        return self.project(self.ball.start(clean, generator), clean)

    def contains(self, x: Tensor, clean: Tensor) -> Tensor:
        """Whether points are in the ball and nearer to the clean item than to any other (n,)."""
        return self.ball.contains(x, clean) & ~self._outside(x, clean, self._near(clean)).any(1)

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        return self.ball.distance(x, clean)

    def resized(self, epsilon: float) -> Self:
        """The same cells, cut with a ball of another size."""
        return replace(self, ball=self.ball.resized(epsilon))

    def _near(self, clean: Tensor) -> Near:
        return self.neighbours.within(clean, reach=2 * self.epsilon, order=self.order)

    def _outside(self, x: Tensor, clean: Tensor, near: Near) -> Tensor:
        """Which data points are as near as the clean item, or nearer: (n, m)."""
        return _gaps(_flat(x), _flat(clean), near, self.order) < CLEAR * near.distances

    def _slide(self, x: Tensor, clean: Tensor, near: Near) -> Tensor:
        """Points moved in turn away from the data point that is most too near, and into the ball."""
        for _ in range(ROUNDS):
            gaps = _gaps(_flat(x), _flat(clean), near, self.order) / near.distances
            worst, which = gaps.nan_to_num(nan=torch.inf).min(1)
            if bool((worst >= CLEAR).all()):
                break
            away = _flat(clean) - near.points[which]
            amount = _amount(_flat(x - clean), away, self.order)
            step = torch.where((worst < CLEAR)[:, None], amount * away, 0.0)
            x = self.ball.project(x + step.reshape(x.shape).to(x.dtype), clean)
        return x

    def _pulled(self, x: Tensor, clean: Tensor, near: Near) -> Tensor:
        """Points moved towards the clean items as far as it takes to be inside."""
        change = _flat(x - clean)
        rows, columns = self._outside(x, clean, near).nonzero(as_tuple=True)
        to_point = near.points[columns] - _flat(clean)[rows]
        limits = _limits(change[rows], to_point, near.distances[rows, columns], self.order)
        factor = torch.ones_like(change[:, 0]).scatter_reduce(0, rows, limits, "amin")
        pulled = torch.where(per_item(factor < 1, x), _along(factor, change, clean), x)
        for _ in range(HALVINGS):  # Points that rounding left outside; they are rare.
            outside = self._outside(pulled, clean, near).any(1)
            if not bool(outside.any()):
                return pulled
            factor = torch.where(outside, factor / 2, factor)
            pulled = torch.where(per_item(outside, x), _along(factor, change, clean), pulled)
        return torch.where(per_item(outside, x), clean, pulled)


def _flat(x: Tensor) -> Tensor:
    return x.flatten(1).double()


def _along(factor: Tensor, change: Tensor, clean: Tensor) -> Tensor:
    """The clean items with a part of a change (n, d), in their own shape and type."""
    return clean + (factor[:, None] * change).reshape(clean.shape).to(clean.dtype)


def _norm(x: Tensor, order: float) -> Tensor:
    length: Tensor = torch.linalg.vector_norm(x, ord=order, dim=-1)
    return length


def _gaps(x: Tensor, clean: Tensor, near: Near, order: float) -> Tensor:
    """How much farther every data point is than the clean item (n, m), infinite where it cannot matter. For
    l2 how far the point is from the wall between the two, which is as good and keeps more digits.
    """
    change = x - clean
    if order != 2:
        return apart(x, near.points, order).masked_fill(near.distances.isinf(), torch.inf) - _norm(
            change, order
        ).unsqueeze(1)
    along = change @ near.points.T - (change * clean).sum(1, keepdim=True)
    return near.distances / 2 - along / near.distances


def _amount(change: Tensor, away: Tensor, order: float) -> Tensor:
    """How far (n, 1) to go ``away`` (n, d) from a data point, to be a little nearer to the clean item."""
    if order == 2:
        squares = away.square().sum(1, keepdim=True)
        return (2 * CLEAR - 0.5) - (change * away).sum(1, keepdim=True) / squares
    distance = _norm(away, order)
    low, high = torch.zeros_like(distance), 2 * _norm(change, order) / distance + 1

    def clear(amount: Tensor) -> Tensor:
        moved = change + amount[:, None] * away
        return _norm(moved + away, order) - _norm(moved, order) >= 2 * CLEAR * distance

    return _halved(clear, low, high)[1][:, None]


def _limits(change: Tensor, to_point: Tensor, distance: Tensor, order: float) -> Tensor:
    """The largest factors (pairs,) of changes (pairs, d) from clean items that stay nearer to them than to
    data points, which lie at ``to_point`` (pairs, d) from them.
    """
    if order == 2:
        along = (change * to_point).sum(1)
        return ((0.5 - 2 * CLEAR) * distance.square() / along).clamp(0, 1)

    def left(factor: Tensor) -> Tensor:
        moved = factor[:, None] * change
        return _norm(moved - to_point, order) - _norm(moved, order) < 2 * CLEAR * distance

    return _halved(left, torch.zeros_like(distance), torch.ones_like(distance))[0]


def _halved(beyond: Callable[[Tensor], Tensor], low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    """Both ends of the interval from ``low`` to ``high`` (n,), halved, in which ``beyond`` becomes true."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        above = beyond(middle)
        low, high = torch.where(above, low, middle), torch.where(above, middle, high)
    return low, high

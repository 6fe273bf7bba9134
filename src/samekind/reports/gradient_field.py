"""The gradient field of a loss: the cost at every place of one point, and where it is pushed.

One item moves over a plane or around a circle while all others stay where they are.
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from samekind.reports.panels import Axes, Colormap, Figure, new_figure, plain
from samekind.reports.style import DIFFERENT, FULL, INK, MUTED, ORANGE, PAPER, SAME, SIZE, SMALL

#: Places along a side of the square, and around the circle; every third has an arrow.
SIDE, AROUND, EVERY = 33, 120, 3
#: Half the side of the square.
REACH = 1.2
#: The band around the circle in which costs are shown, and where the arrows are.
INSIDE, OUTSIDE, BEYOND = 0.74, 1.0, 1.2
#: The share of extreme costs and pushes that is clipped, because a pole would hide the rest.
EXTREME = 0.03
COLUMNS, STEPS = 5, 15


class Field(NamedTuple):
    """Costs and pushes at each place of the moving point, and the points that stay."""

    places: Tensor  # (n, 2)
    costs: Tensor  # (n,)
    pushes: Tensor  # (n, 2), minus the gradient
    same: Tensor  # (p, 2), of the moving point's class
    different: Tensor  # (q, 2), of others
    circle: bool


def measure_field(
    cost: Callable[[Tensor], Tensor], *, same: Tensor, different: Tensor, circle: bool = False
) -> Field:
    """Cost and push at every place; ``cost`` takes the moving point (1, 2) and gives one number.

    The places fill a square, or the unit circle. ``same`` and ``different`` are only shown: the cost knows
    them.
    """
    if circle:
        turns = torch.arange(AROUND, dtype=torch.double) * (2 * torch.pi / AROUND)
        places = torch.stack([turns.cos(), turns.sin()], dim=1)
    else:
        axis = torch.linspace(-REACH, REACH, SIDE, dtype=torch.double)
        places = torch.cartesian_prod(axis, axis).flip(1)  # row by row, as a picture is
    costs, pushes = [], []
    for place in places:
        point = place[None].clone().requires_grad_()
        value = cost(point)
        (slope,) = torch.autograd.grad(value, point)
        costs.append(value.detach())
        pushes.append(-slope[0])
    return Field(places, torch.stack(costs), torch.stack(pushes), same, different, circle)


def gradient_field(fields: Mapping[str, Field]) -> Figure:
    """A panel for each named field: the cost as shading, the pushes as arrows, and the other points.

    Darker costs more, from the least of a panel to its most. Arrow lengths are square roots of the pushes,
    scaled to the same longest arrow in all panels. Discs are of the moving point's class, squares of others.
    A second line of a name is small. No field at all is a ``ValueError``.
    """
    from matplotlib.colors import LinearSegmentedColormap

    if not fields:
        raise ValueError("expected at least one field to draw, got none")
    columns = min(COLUMNS, len(fields))
    rows = -(-len(fields) // columns)
    side = FULL / COLUMNS
    figure = new_figure(side * columns, (side + 0.42) * rows)
    figure.set_layout_engine("constrained", h_pad=0.09)  # room over the names
    colours = LinearSegmentedColormap.from_list("cost", [PAPER, ORANGE])
    panels = figure.subplots(rows, columns, squeeze=False).flatten()
    for axes in panels:
        axes.set_axis_off()
        axes.set_aspect("equal")
    for axes, (name, field) in zip(panels, fields.items(), strict=False):
        (_draw_circle if field.circle else _draw_square)(axes, field, colours)
        _draw_points(axes, field)
        first, _, second = name.partition("\n")
        axes.set_title(plain(first), fontsize=SIZE, color=INK, pad=15)
        label = axes.text(0.5, 1.03, plain(second), color=MUTED, fontsize=SMALL - 1, ha="center")
        label.set_transform(axes.transAxes)
    return figure


def arrows(pushes: Tensor) -> np.ndarray:
    """Pushes (n, 2) as arrows: the same ways, the square roots of the lengths, the longest 1; 0 stays 0."""
    lengths = pushes.norm(dim=1, keepdim=True)
    longest = lengths.quantile(1 - EXTREME).clamp(min=torch.finfo(lengths.dtype).tiny)
    ways = pushes / lengths.where(lengths > 0, 1)
    shown: np.ndarray = (ways * (lengths / longest).clamp(max=1).sqrt()).numpy()
    return shown


def levels(costs: Tensor, count: int) -> np.ndarray:
    """Evenly spaced steps from the least to the most cost; around it, if there is one cost only."""
    low, high = costs.quantile(EXTREME).item(), costs.quantile(1 - EXTREME).item()
    if not high > low:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, count)


def _draw_square(axes: Axes, field: Field, colours: Colormap) -> None:
    side = math.isqrt(len(field.places))
    axis = field.places[:side, 0].numpy()
    costs = field.costs.reshape(side, side).numpy()
    axes.contourf(axis, axis, costs, levels=levels(field.costs, STEPS), cmap=colours, extend="both")
    some = torch.arange(side * side).reshape(side, side)[1::EVERY, 1::EVERY].flatten()
    _draw_arrows(axes, field.places[some].numpy(), arrows(field.pushes)[some], EVERY * (axis[1] - axis[0]))
    axes.set(xlim=(axis[0], axis[-1]), ylim=(axis[0], axis[-1]))


def _draw_circle(axes: Axes, field: Field, colours: Colormap) -> None:
    """The cost in a band around the circle, the arrows outside of it."""
    closed = torch.cat([field.places, field.places[:1]])
    around = closed.numpy().T
    costs = torch.cat([field.costs, field.costs[:1]]).expand(2, -1).numpy()
    x, y = (np.stack([INSIDE * directions, OUTSIDE * directions]) for directions in around)
    axes.contourf(x, y, costs, levels=levels(field.costs, STEPS), cmap=colours, extend="both")
    for radius in (INSIDE, OUTSIDE):
        axes.plot(*(radius * around), color=MUTED, linewidth=0.5)
    some = slice(0, None, EVERY)
    _draw_arrows(axes, BEYOND * field.places[some].numpy(), arrows(field.pushes)[some], 0.24)
    axes.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4))


def _draw_arrows(axes: Axes, at: np.ndarray, shown: np.ndarray, longest: float) -> None:
    visible = np.linalg.norm(shown, axis=1) > 0.06
    axes.quiver(
        *at[visible].T,
        *(longest * shown[visible].T),
        color=INK,
        angles="xy",
        scale_units="xy",
        scale=1,
        pivot="middle",
        width=0.0065,
        headwidth=4,
        headlength=4.5,
        headaxislength=4,
        minlength=0,
    )


def _draw_points(axes: Axes, field: Field) -> None:
    radius = (INSIDE + OUTSIDE) / 2 if field.circle else 1.0
    for points, colour, marker in ((field.same, SAME, "o"), (field.different, DIFFERENT, "s")):
        dots = axes.plot(*(radius * points).T.numpy(), marker, color=colour, markersize=6.5)[0]
        dots.set(markeredgecolor=PAPER, zorder=4)

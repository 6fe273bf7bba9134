"""Where an attack may go, drawn on the plane: balls around items, and balls cut with their Voronoi cells.

Kim, "On the Significance of Distance in Machine Learning", 2023, paper III.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from samekind.measures import accuracy_within, adversarial_distances
from samekind.reports.panels import Axes, Figure, new_figure, write
from samekind.reports.style import FULL, INK, LARGE, MUTED, PAPER, SERIES, SMALL

#: The toy set of paper III: five items of one class, three of the other.
TOY = torch.tensor([(-1, -1), (-2, 1), (2, -2), (1, 1), (2, -1), (0, 0), (2, 1), (1, -1)], dtype=torch.double)
TOY_CLASSES = torch.tensor([0, 0, 0, 0, 0, 1, 1, 1])
#: Half the side of the picture, places along it, and what rounding may add to a distance.
REACH, PLACES, ROUNDING = 4.0, 241, 1e-9
MARKERS = "osD^vP*"


def voronoi_regions(points: Tensor, labels: Tensor, epsilons: Sequence[float]) -> Figure:
    """Two rows of panels, one column an epsilon: the balls of the standard adversarial accuracy above, the
    balls cut with Voronoi cells of the Voronoi-epsilon accuracy below.

    ``points`` are (n, 2), ``labels`` (n,) from 0 to 6. Colours and markers are classes. Hatched is what two
    classes claim: no classifier is right about both there. Under each panel is the accuracy of the 1-nearest
    neighbour. No epsilon at all is a ``ValueError``.
    """
    if not epsilons or min(epsilons) <= 0:
        raise ValueError(f"expected at least one epsilon, all above 0, got {list(epsilons)}")
    side = FULL / 3
    figure = new_figure(side * len(epsilons), 2 * (side + 0.35))
    panels = figure.subplots(2, len(epsilons), squeeze=False)
    for row, name in zip(panels, ("standard", "Voronoi"), strict=True):
        cut = name == "Voronoi"
        accuracies = nearest_neighbour_accuracies(points, labels, epsilons, voronoi=cut)
        for axes, epsilon, accuracy in zip(row, epsilons, accuracies, strict=True):
            axes.set_axis_off()
            axes.set(aspect="equal", xlim=(-REACH, REACH), ylim=(-REACH, REACH))
            _draw_regions(axes, points.double(), labels, epsilon, cut=cut)
            for place, label in zip(points.tolist(), labels.tolist(), strict=True):
                axes.plot(
                    *place, MARKERS[label], color=SERIES[label], markersize=7, markeredgecolor=PAPER, zorder=4
                )
            axes.set_title(f"{name}, ε = {epsilon:g}", fontsize=LARGE, color=INK, pad=6)
            below = write(
                axes, (0.5, -0.02), f"accuracy of 1-NN: {accuracy:.1%}", colour=MUTED, size=SMALL, up="top"
            )
            below.set_transform(axes.transAxes)
    return figure


def nearest_neighbour_accuracies(
    points: Tensor, labels: Tensor, epsilons: Sequence[float], *, voronoi: bool
) -> list[float]:
    """The exact adversarial accuracy of the 1-nearest-neighbour classifier by the points, at each epsilon."""
    distances = adversarial_distances(points, labels, voronoi=voronoi)
    return [
        at.mean for at in accuracy_within(distances, epsilons=[epsilon + ROUNDING for epsilon in epsilons])
    ]


def _draw_regions(axes: Axes, points: Tensor, labels: Tensor, epsilon: float, *, cut: bool) -> None:
    """The regions of all items as areas of their classes, with the walls of each."""
    axis = np.linspace(-REACH, REACH, PLACES)
    grid = torch.from_numpy(np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2))
    apart = torch.cdist(grid, points)  # (places, items)
    others = torch.stack([_without(apart, item).amin(1) for item in range(len(points))], dim=1)
    # Below 0 inside the region of an item.
    outside = torch.maximum(apart - epsilon, apart - others) if cut else apart - epsilon
    names = torch.unique(labels).tolist()
    by_class = torch.stack([outside[:, labels == name].amin(1) for name in names], dim=1)

    def shaped(values: Tensor) -> np.ndarray:
        sheet: np.ndarray = values.reshape(PLACES, PLACES).numpy()
        return sheet

    for name, values in zip(names, by_class.T, strict=True):
        axes.contourf(axis, axis, shaped(values), levels=[-np.inf, 0], colors=[SERIES[name]], alpha=0.28)
    for values in outside.T:
        axes.contour(axis, axis, shaped(values), levels=[0], colors=[MUTED], linewidths=0.6)
    claimed = by_class.sort(dim=1).values[:, 1:2]
    if not cut and bool((claimed < 0).any()):
        hatched = axes.contourf(
            axis, axis, shaped(claimed), levels=[-np.inf, 0], colors="none", hatches=["/////"]
        )
        hatched.set(edgecolor=INK, linewidth=0)


def _without(apart: Tensor, item: int) -> Tensor:
    return torch.cat([apart[:, :item], apart[:, item + 1 :]], dim=1)

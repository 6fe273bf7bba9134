"""A map of the items: one dot each, the classes written where they lie."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from torch import Tensor

from samekind.reports.style import (
    BESIDE,
    LARGE,
    MUTED,
    PAPER,
    SERIES,
    SIZE,
    SMALL,
    legend,
    new_figure,
    shortened,
    write,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONGEST_NAME = 18


def embedding_map(
    points: Tensor, labels: Tensor, classes: Sequence[str], unseen: Collection[str] = ()
) -> "Figure":
    """Points (n, 2) with their labels (n,), each class named at its median; a class without items is not.

    Classes in ``unseen`` are triangles, the others discs. Colours repeat where classes are many: the names
    tell which is which. The axes have no unit and are not drawn.
    """
    figure = new_figure(BESIDE, BESIDE)
    axes = figure.subplots()
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    present = sorted(set(labels.tolist()))
    for label in present:
        marker = "^" if classes[label] in unseen else "o"
        x, y = points[labels == label].T.tolist()
        axes.scatter(x, y, s=16, marker=marker, color=SERIES[label % len(SERIES)], alpha=0.6, linewidths=0)
    size = LARGE if len(present) <= 20 else SMALL if len(present) <= 50 else SMALL - 2
    # After all dots, so that none covers a name.
    for label in present:
        x, y = points[labels == label].median(0).values.tolist()
        name = write(axes, (x, y), shortened(classes[label], LONGEST_NAME), size=size)
        colour = SERIES[label % len(SERIES)]
        name.set_bbox(
            {"boxstyle": "round,pad=0.28", "facecolor": (PAPER, 0.8), "edgecolor": colour, "linewidth": 1.1}
        )
    if unseen:
        # Without points: the legend speaks of the markers, not of a class.
        axes.plot([], [], "o", color=MUTED, markersize=SIZE / 2, label="seen classes")
        axes.plot([], [], "^", color=MUTED, markersize=SIZE / 2, label="unseen classes")
        legend(axes, place="best")
    return figure

"""A map of the items: one dot each, the classes written where they lie."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from torch import Tensor

from samekind.reports.apart import apart
from samekind.reports.names import shortened, tell_whole
from samekind.reports.style import (
    BESIDE,
    INK,
    LARGE,
    MUTED,
    PAPER,
    SERIES,
    SIZE,
    SMALL,
    legend,
    new_figure,
    plain,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

LONGEST_NAME = 18
#: More names than this find no room beside each other.
MOST_APART = 50


def embedding_map(
    points: Tensor, labels: Tensor, classes: Sequence[str], unseen: Collection[str] = ()
) -> "Figure":
    """Points (n, 2) with their labels (n,), each class named at its median; a class without items is not.
    Names that would lie on each other are moved apart, with a line to where they belong.

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
    short = shortened([classes[label] for label in present], LONGEST_NAME)
    names = []
    for label, words in zip(present, short, strict=True):
        place = points[labels == label].median(0).values.tolist()
        names.append(_named(axes, place, words, size=size, colour=SERIES[label % len(SERIES)]))
        tell_whole(names[-1], classes[label])
    if unseen:
        # Without points: the legend speaks of the markers, not of a class.
        axes.plot([], [], "o", color=MUTED, markersize=SIZE / 2, label="seen classes")
        axes.plot([], [], "^", color=MUTED, markersize=SIZE / 2, label="unseen classes")
        legend(axes, place="best")
    if len(names) <= MOST_APART:
        _move_apart(figure, names)
    return figure


def _named(axes: "Axes", place: Sequence[float], words: str, *, size: float, colour: str) -> "Annotation":
    """Words in a box over a place, which a line goes to once they are moved."""
    box = {"boxstyle": "round,pad=0.28", "facecolor": (PAPER, 0.8), "edgecolor": colour, "linewidth": 1.1}
    return axes.annotate(
        plain(words),
        (place[0], place[1]),
        xytext=(0, 0),
        textcoords="offset points",
        ha="center",
        va="center",
        color=INK,
        fontsize=size,
        bbox=box,
        arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0},
    )


def _move_apart(figure: "Figure", names: Sequence["Annotation"]) -> None:
    """Move the names, in points, until none lies on another. Names that jut out make the map smaller, and so
    bring the places nearer to each other: a second and a third time see to that.
    """
    for _ in range(3):
        figure.draw_without_rendering()
        patches = [name.get_bbox_patch() for name in names]
        boxes = np.array([patch.get_window_extent().extents for patch in patches if patch is not None])
        moves = apart(boxes * 72 / figure.dpi)
        if not moves.any():
            return
        for name, move in zip(names, moves, strict=True):
            x, y = name.get_position()
            name.set_position((x + move[0], y + move[1]))

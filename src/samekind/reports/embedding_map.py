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
    MANY,
    MUTED,
    PAPER,
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
#: Square points: a dot where items are few, and the least that can be seen of each of many.
DOT, LEAST_DOT = 16.0, 4.0
#: With more items than this dots are drawn smaller, so that all together cover no more of the map.
FEW = 1000


def embedding_map(
    points: Tensor, labels: Tensor, classes: Sequence[str], unseen: Collection[str] = ()
) -> "Figure":
    """Points (n, 2) with their labels (n,), each class named at its median; a class without items is not.
    Names that would lie on each other are moved apart, with a line to where they belong.

    Classes in ``unseen`` are triangles, the others discs. Where classes overlap, their dots are mixed: none
    is drawn over another as a whole. Colours repeat after ten classes: the names tell which is which. The
    axes have no unit and are not drawn.
    """
    figure = new_figure(BESIDE, BESIDE)
    axes = figure.subplots()
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    present = sorted(set(labels.tolist()))
    _draw_dots(axes, points, labels, unseen={label for label in present if classes[label] in unseen})
    size = LARGE if len(present) <= 20 else SMALL if len(present) <= 50 else SMALL - 2
    # After all dots, so that none covers a name.
    short = shortened([classes[label] for label in present], LONGEST_NAME)
    names = []
    for label, words in zip(present, short, strict=True):
        place = points[labels == label].median(0).values.tolist()
        names.append(_named(axes, place, words, size=size, colour=MANY[label % len(MANY)]))
        tell_whole(names[-1], classes[label])
    if unseen:
        # Without points: the legend speaks of the markers, not of a class.
        axes.plot([], [], "o", color=MUTED, markersize=SIZE / 2, label="seen classes")
        axes.plot([], [], "^", color=MUTED, markersize=SIZE / 2, label="unseen classes")
        legend(axes, place="best")
    if len(names) <= MOST_APART:
        _move_apart(figure, names)
    return figure


def _draw_dots(axes: "Axes", points: Tensor, labels: Tensor, *, unseen: Collection[int]) -> None:
    """Every item as a dot of its class's colour, in an order that has nothing to do with the classes."""
    size = max(LEAST_DOT, DOT * min(1.0, FEW / max(1, len(points))))
    order = np.random.default_rng(0).permutation(len(points))
    mixed, places = labels.cpu().numpy()[order], points.detach().cpu().numpy()[order]
    hidden = np.isin(mixed, list(unseen))
    for marker, these in (("o", ~hidden), ("^", hidden)):
        if these.any():
            colours = [MANY[label % len(MANY)] for label in mixed[these].tolist()]
            x, y = places[these].T
            axes.scatter(x, y, s=size, marker=marker, c=colours, alpha=0.6, linewidths=0)


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

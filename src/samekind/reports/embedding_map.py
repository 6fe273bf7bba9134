"""A map of the items: one dot each, the classes written where they lie."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from torch import Tensor

from samekind.reports.apart import apart
from samekind.reports.names import shortened, tell_whole
from samekind.reports.numbers import counted
from samekind.reports.placing import placed
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
#: With more classes than this names are written small and without boxes, and only those that find room.
MOST_IN_BOXES = 50
#: Square points: a dot where items are few, and the least that can be seen of each of many.
DOT, LEAST_DOT = 16.0, 4.0
#: With more items than this dots are drawn smaller, so that all together cover no more of the map.
FEW = 1000


def embedding_map(
    points: Tensor,
    labels: Tensor,
    classes: Sequence[str],
    unseen: Collection[str] = (),
    *,
    origin: bool = False,
) -> "Figure":
    """Points (n, 2) with their labels (n,), each class named near its median; a class without items is not.

    A name stands where it hides few dots, with a line to where it belongs. Of more than 50 classes those that
    find no room have no name: the largest choose first, and `not_named` says how many. Classes in ``unseen``
    are triangles, the others discs. Where classes overlap, their dots are mixed: none is drawn over another
    as a whole. Colours repeat after ten classes: the names tell which is which. The axes have no unit and are
    not drawn; where (0, 0) means something, ``origin`` marks it.
    """
    figure = new_figure(BESIDE, BESIDE)
    axes = figure.subplots()
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    present = sorted(set(labels.tolist()))
    _draw_dots(axes, points, labels, unseen={label for label in present if classes[label] in unseen})
    if unseen:
        # Without points: the legend speaks of the markers, not of a class.
        axes.plot([], [], "o", color=MUTED, markersize=SIZE / 2, label="seen classes")
        axes.plot([], [], "^", color=MUTED, markersize=SIZE / 2, label="unseen classes")
    if origin:
        axes.plot([0], [0], "+", color=INK, markersize=13, markeredgewidth=1.6, zorder=3, label="(0, 0)")
    if unseen or origin:
        legend(axes, columns=3, gap=6)
    boxed = len(present) <= MOST_IN_BOXES
    size = LARGE if len(present) <= 20 else SMALL if boxed else SMALL - 1
    # After all dots, so that none covers a name.
    short = shortened([classes[label] for label in present], LONGEST_NAME)
    names = []
    for label, words in zip(present, short, strict=True):
        place = points[labels == label].median(0).values.tolist()
        names.append(_named(axes, place, words, size=size, colour=MANY[label % len(MANY)], boxed=boxed))
        tell_whole(names[-1], classes[label])
    _place(axes, names, points.detach().cpu().numpy(), np.searchsorted(present, labels.cpu().numpy()))
    return figure


def not_named(figure: "Figure", labels: Tensor, *, word: str = "class") -> str:
    """The end of a caption: how many of the classes of these labels found room for their name, if not all."""
    named, present = len(figure.axes[0].texts), len(set(labels.tolist()))
    return "" if named == present else f" Of {counted(present, word)} the {named:,} that have room are named."


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


def _named(
    axes: "Axes", place: Sequence[float], words: str, *, size: float, colour: str, boxed: bool
) -> "Annotation":
    """Words over a place, which a line goes to once they are moved."""
    edge = {"edgecolor": colour, "linewidth": 1.1} if boxed else {"edgecolor": "none"}
    return axes.annotate(
        plain(words),
        (place[0], place[1]),
        xytext=(0, 0),
        textcoords="offset points",
        ha="center",
        va="center",
        color=INK,
        fontsize=size,
        bbox={"boxstyle": f"round,pad={0.28 if boxed else 0.1}", "facecolor": (PAPER, 0.8), **edge},
        arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0},
    )


def _place(axes: "Axes", names: Sequence["Annotation"], points: np.ndarray, classes: np.ndarray) -> None:
    """Move the names of the classes (of each point, counted from 0) to where they hide little, or away.

    Names that jut out make the map smaller, and so bring the places nearer to each other: a second time sees
    to that.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    counts = np.bincount(classes, minlength=len(names))
    order = np.argsort(-counts, kind="stable")
    all_of_them = len(names) <= MOST_IN_BOXES
    figure.draw_without_rendering()
    boxes = _boxes(figure, names)
    sizes = boxes[:, 2:] - boxes[:, :2]
    for _ in range(2):
        in_points = 72 / figure.dpi
        places = axes.transData.transform([name.xy for name in names]) * in_points
        dots = axes.transData.transform(points) * in_points
        area = np.array(axes.get_window_extent().extents) * in_points
        moves = np.empty_like(places)
        moves[order] = placed(
            places[order], sizes[order], dots, 1 / counts[classes], area, all_of_them=all_of_them
        )
        for name, move in zip(names, moves, strict=True):
            name.set_visible(bool(np.isfinite(move).all()))
            name.set_position(np.nan_to_num(move))
        figure.draw_without_rendering()
    for name in names:
        if not name.get_visible():
            name.remove()
    if all_of_them:
        _move_apart(figure, names)


def _boxes(figure: "Figure", names: Sequence["Annotation"]) -> np.ndarray:
    """What names cover, (n, 4) in points."""
    patches = [name.get_bbox_patch() for name in names]
    boxes = [patch.get_window_extent().extents for patch in patches if patch is not None]
    return np.array(boxes) * 72 / figure.dpi


def _move_apart(figure: "Figure", names: Sequence["Annotation"]) -> None:
    """Move the names that found no room, and those in their way, until none lies on another."""
    for _ in range(3):
        figure.draw_without_rendering()
        moves = apart(_boxes(figure, names))
        if not moves.any():
            return
        for name, move in zip(names, moves, strict=True):
            x, y = name.get_position()
            name.set_position((x + move[0], y + move[1]))

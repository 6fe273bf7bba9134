"""A map of the items: one dot each, the classes written where they lie."""

from collections.abc import Collection, Sequence

import numpy as np
from torch import Tensor

from samekind.reports.apart import apart
from samekind.reports.names import shortened, tell_whole
from samekind.reports.panels import Annotation, Axes, Figure, legend, new_figure, plain
from samekind.reports.placing import placed
from samekind.reports.style import BESIDE, INK, LARGE, MANY, MUTED, PAPER, SIZE, SMALL

LONGEST_NAME = 18
#: With more classes than this, names are small, without boxes, and left out if there is no room.
MOST_IN_BOXES = 50
#: Areas of a dot in square points: with few items, and at least.
DOT, LEAST_DOT = 16.0, 4.0
#: With more items than this, dots are smaller, so that together they cover no more of the map.
FEW = 1000


def embedding_map(
    points: Tensor,
    labels: Tensor,
    classes: Sequence[str],
    unseen: Collection[str] = (),
    *,
    origin: bool = False,
) -> Figure:
    """Points (n, 2) with their labels (n,), each class that has items named near its median.

    A name is placed where it hides few dots, with a line to its class. With more than 50 classes, names
    without room are left out, those of small classes first; `not_named` says how many. Classes in ``unseen``
    are triangles, the others discs. Dots are drawn in random order, so that no class covers another. Colours
    repeat after ten classes. The axes have no unit and are not drawn; ``origin`` marks (0, 0).
    """
    figure = new_figure(BESIDE, BESIDE)
    axes = figure.subplots()
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    present = sorted(set(labels.tolist()))
    _draw_dots(axes, points, labels, unseen={label for label in present if classes[label] in unseen})
    if unseen:
        # Without points: the legend is about the markers, not about a class.
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


def not_named(figure: Figure, labels: Tensor, *, words: str = "classes") -> str:
    """The end of a caption: how many of the classes of these labels have a name on the map, if not all."""
    named, present = len(figure.axes[0].texts), len(set(labels.tolist()))
    return "" if named == present else f" Of {present:,} {words} the {named:,} that have room are named."


def _draw_dots(axes: Axes, points: Tensor, labels: Tensor, *, unseen: Collection[int]) -> None:
    """Every item as a dot of its class's colour, in random order."""
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
    axes: Axes, place: Sequence[float], words: str, *, size: float, colour: str, boxed: bool
) -> Annotation:
    """Words over a place, with a line to it once they are moved."""
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


def _place(axes: Axes, names: Sequence[Annotation], points: np.ndarray, classes: np.ndarray) -> None:
    """Move the names of the classes (of each point, counted from 0) where they hide little, or remove them.

    Twice, because names beyond the edge shrink the map, which brings the places nearer to each other.
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


def _boxes(figure: Figure, names: Sequence[Annotation]) -> np.ndarray:
    """The boxes of names, (n, 4) in points."""
    patches = [name.get_bbox_patch() for name in names]
    boxes = [patch.get_window_extent().extents for patch in patches if patch is not None]
    return np.array(boxes) * 72 / figure.dpi


def _move_apart(figure: Figure, names: Sequence[Annotation]) -> None:
    """Move names that overlap until none does."""
    for _ in range(3):
        figure.draw_without_rendering()
        moves = apart(_boxes(figure, names))
        if not moves.any():
            return
        for name, move in zip(names, moves, strict=True):
            x, y = name.get_position()
            name.set_position((x + move[0], y + move[1]))

"""Pictures and the pictures most like them."""

from collections.abc import Sequence

import torch
from torch import Tensor

from samekind.data import Stored, medium_of
from samekind.reports.names import shortened, tell_whole
from samekind.reports.panels import Axes, Figure, Text, new_figure, write
from samekind.reports.style import BESIDE, INK, MUTED, RIGHT, SMALL, WRONG

#: Characters that fit below a picture, with the mark before them.
LONGEST_NAME = 7
#: In pictures: from one to the next across and down, the space behind the query, that above the first row.
ACROSS, DOWN, GAP, HEAD = 1.2, 1.5, 0.4, 0.5


def neighbour_grid(
    inputs: Tensor | Stored, labels: Tensor, classes: Sequence[str], indices: Tensor, *, queries: Tensor
) -> Figure | None:
    """A row per query: its picture, then those of its neighbours, nearest first.

    ``inputs`` (n, channels, height, width), bytes or floats, and ``labels`` (n,) are all items; ``queries``
    (q,) and ``indices`` (q, k) point into them. A neighbour of the query's class has a frame and a tick in
    one colour, another a frame and a cross in the other. None if the items are not grey or colour pictures,
    or there is no query.
    """
    medium = medium_of(inputs.shape[1:])
    if not medium.shows(inputs.shape[1:]) or not len(queries):
        return None
    shown = torch.cat([queries[:, None], indices], dim=1)
    # Only these are decoded, where pictures are kept in files.
    chosen = medium.thumbnails(inputs[shown.flatten()]).movedim(1, -1)
    pictures = chosen.expand(*chosen.shape[:-1], 3).reshape(*shown.shape, *chosen.shape[1:-1], 3)
    width, height = ACROSS * shown.shape[1] - (ACROSS - 1) + GAP, DOWN * len(shown) + HEAD
    # A picture is as large as with eight neighbours, however many there are.
    inch = BESIDE / (9 * ACROSS + GAP)
    figure = new_figure(inch * (width + 0.1), inch * height)
    axes = figure.subplots()
    axes.set_axis_off()
    names = [classes[label] for label in sorted(set(labels[shown].flatten().tolist()))]
    short = dict(zip(names, shortened(names, LONGEST_NAME), strict=True))
    for row, (query, *neighbours) in enumerate(shown.tolist()):
        name = classes[int(labels[query])]
        tell_whole(_draw(axes, pictures[row, 0], (0, row * DOWN), short[name], INK), name)
        for rank, item in enumerate(neighbours, start=1):
            right = bool(labels[item] == labels[query])
            name = classes[int(labels[item])]
            corner = (rank * ACROSS + GAP, row * DOWN)
            mark, colour = ("✓", RIGHT) if right else ("✗", WRONG)
            tell_whole(_draw(axes, pictures[row, rank], corner, f"{mark} {short[name]}", colour), name)
    write(axes, (0.5, -0.14), "query", colour=MUTED, up="bottom")
    write(axes, (ACROSS + GAP, -0.14), "nearest first →", colour=MUTED, across="left", up="bottom")
    # At the end, because every picture moves the limits.
    axes.set(xlim=(-0.05, width + 0.05), ylim=(height - HEAD, -HEAD), aspect="equal")
    return figure


def _draw(axes: Axes, image: Tensor, corner: tuple[float, float], words: str, colour: str) -> Text:
    """A picture at a corner (upper left), with a frame, and words below it, which are returned."""
    from matplotlib.patches import Rectangle

    x, y = corner
    axes.imshow(image.numpy(), extent=(x, x + 1, y + 1, y), interpolation="nearest")
    line = 0.8 if colour == INK else 2.0
    axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=colour, linewidth=line, clip_on=False))
    return write(axes, (x + 0.5, y + 1.08), words, colour=colour, size=SMALL, up="top")

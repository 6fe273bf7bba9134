"""Where a classifier is sure of a class, drawn: a plane, a circle, or the near half of a sphere."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from samekind.reports.confidence import FORMS, REACH, Confidence
from samekind.reports.panels import Axes, Figure, new_figure, write
from samekind.reports.style import BLUE, FULL, INK, LARGE, MUTED, PAPER, SERIES, SMALL

LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
PIXELS = 241
#: From where a sphere is seen: all prototypes, and the surest point of every form, are in front.
EYE = torch.nn.functional.normalize(torch.tensor([0.27, 0.27, 0.92], dtype=torch.double), dim=0)
#: How far over the circle a probability of 1 is drawn.
HEIGHT = 0.6


def confidence_map(maps: Sequence[Confidence]) -> Figure:
    """One panel for each map: the probability of class 1, its prototypes, and a ring where it is surest. Four
    panels are in a row at most.

    On a plane and a sphere darker is surer, with lines at 10, 25, 50 (the thick one), 75 and 90 %. On a
    circle the probability is the height over it. No map at all is a ``ValueError``.
    """
    if not maps:
        raise ValueError("expected at least one map to draw, got none")
    columns = next((count for count in (4, 3) if len(maps) % count == 0), min(len(maps), 4))
    rows = -(-len(maps) // columns)
    side = FULL / max(columns, 3)
    figure = new_figure(side * columns, (side + 0.7) * rows)
    panels = figure.subplots(rows, columns, squeeze=False).flatten()
    for axes in panels:
        axes.set_axis_off()
    for axes, confidence in zip(panels, maps, strict=False):
        axes.set_aspect("equal")
        drawing = (
            _draw_circle if confidence.dimension == 2 and confidence.surface == "sphere" else _draw_shading
        )
        drawing(axes, confidence)
        _draw_prototypes(axes, confidence)
        title = FORMS[confidence.form]
        title = title.replace("distances", "angles") if confidence.angle else title
        axes.set_title(title, fontsize=LARGE, color=INK, pad=8)
        below = write(axes, (0.5, 0.0), _in_words(confidence), colour=MUTED, size=SMALL, up="top")
        below.set(transform=axes.transAxes, linespacing=1.5)
    return figure


def _draw_shading(axes: Axes, confidence: Confidence) -> None:
    """The probability as colour and lines, over a square or the disc that a sphere is seen as."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Circle, Rectangle

    reach = 1.0 if confidence.surface == "sphere" else REACH
    places = np.linspace(-reach, reach, PIXELS)
    flat = torch.from_numpy(np.stack(np.meshgrid(places, places), axis=-1).reshape(-1, 2))
    chances = confidence.probability(_lift(flat) if confidence.surface == "sphere" else flat)
    values = chances.reshape(PIXELS, PIXELS).numpy()
    edge = (
        Circle((0, 0), reach)
        if confidence.surface == "sphere"
        else Rectangle((-reach, -reach), 2 * reach, 2 * reach)
    )
    edge.set(facecolor="none", edgecolor=MUTED, linewidth=0.8)
    axes.add_patch(edge)
    colours = LinearSegmentedColormap.from_list("sure", [PAPER, BLUE])
    image = axes.imshow(
        values,
        extent=(-reach, reach, -reach, reach),
        origin="lower",
        cmap=colours,
        vmin=0,
        vmax=1.25,  # not the full blue, in which the prototype would drown
        interpolation="bilinear",
    )
    widths = [1.3 if level == 0.5 else 0.6 for level in LEVELS]
    lines = axes.contour(places, places, values, levels=LEVELS, colors=[INK], linewidths=widths, alpha=0.7)
    for artist in (image, lines):
        artist.set_clip_path(edge)
    margin = 0.06 * reach
    axes.set(xlim=(-reach - margin, reach + margin), ylim=(-reach - margin, reach + margin))


def _draw_circle(axes: Axes, confidence: Confidence) -> None:
    """The probability as height over the circle."""
    turns = torch.linspace(0, 2 * torch.pi, 721, dtype=torch.double)
    points = torch.stack([turns.cos(), turns.sin()], dim=1)
    surface = ((1 + HEIGHT * confidence.probability(points))[:, None] * points).numpy()
    axes.fill(*surface.T, facecolor=BLUE, alpha=0.3, linewidth=0)
    axes.fill(*points.numpy().T, facecolor=PAPER, linewidth=0)
    axes.plot(*surface.T, color=BLUE, linewidth=1.3)
    axes.plot(*points.numpy().T, color=MUTED, linewidth=0.9)
    for height, words in ((0.5, "0.5"), (1.0, "1")):
        axes.plot(
            *((1 + HEIGHT * height) * points.numpy().T), color=MUTED, linewidth=0.6, linestyle=(0, (2, 3))
        )
        at = (1 + HEIGHT * height) * np.array([np.cos(-np.pi / 4), np.sin(-np.pi / 4)])
        label = write(axes, (at[0], at[1]), words, colour=MUTED, size=SMALL)
        label.set_bbox({"facecolor": PAPER, "edgecolor": "none", "pad": 1.0})
    peak = confidence.surest()
    top = (1 + HEIGHT * confidence.probability(peak[None])) * peak
    axes.plot(*torch.stack([peak, top]).T.numpy(), color=INK, linewidth=0.9)
    axes.set(xlim=(-1.75, 1.75), ylim=(-1.75, 1.75))


def _draw_prototypes(axes: Axes, confidence: Confidence) -> None:
    """A numbered disc for each class, and the ring of the surest point around it or elsewhere."""
    for index, point in enumerate(_seen(confidence.prototypes)):
        axes.plot(*point, "o", color=SERIES[index], markersize=13, markeredgecolor=PAPER, zorder=4)
        label = write(axes, (point[0], point[1]), str(index + 1), colour=PAPER, size=SMALL)
        label.set(zorder=5, fontweight="bold", va="center_baseline")
    peak = _seen(confidence.surest()[None])[0]
    for colour, width in ((PAPER, 3.6), (INK, 1.7)):
        ring = axes.plot(*peak, "o", markersize=19, markeredgecolor=colour, markeredgewidth=width)[0]
        ring.set(markerfacecolor="none", zorder=6, clip_on=False)


def _in_words(confidence: Confidence) -> str:
    """Where the ring is and what the probability is there."""
    peak = confidence.surest()
    at_peak, at_prototype = confidence.probability(torch.stack([peak, confidence.prototypes[0]])).tolist()
    if confidence.at_edge(peak):
        words = f"still rising at the edge: {at_peak:.4f}"
    elif torch.equal(peak, confidence.prototypes[0]):
        return f"scale {confidence.scale:g}, surest at the prototype: {at_peak:.4f}\n"
    else:
        words = f"surest at the ring: {at_peak:.4f}"
    return f"scale {confidence.scale:g}, {words}\nat the prototype: {at_prototype:.4f}"


def _seen(points: Tensor) -> np.ndarray:
    """Where points (n, dimension) are on the sheet, (n, 2)."""
    seen: np.ndarray = (points @ _sheet().T if points.shape[1] == 3 else points).numpy()
    return seen


def _lift(flat: Tensor) -> Tensor:
    """The points of the near half of the sphere that are seen at (n, 2); outside of it, its border."""
    lengths = flat.norm(dim=1, keepdim=True)
    flat = flat / lengths.clamp(min=1)
    depth = (1 - flat.square().sum(1, keepdim=True)).clamp(min=0).sqrt()
    return flat @ _sheet() + depth * EYE


def _sheet() -> Tensor:
    """The two directions of the sheet in space, (2, 3): to the right, and up, which is the last axis."""
    up = torch.tensor([0.0, 0.0, 1.0], dtype=torch.double)
    up = torch.nn.functional.normalize(up - (up @ EYE) * EYE, dim=0)
    return torch.stack([torch.linalg.cross(up, EYE), up])

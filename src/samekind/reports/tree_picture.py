"""A tree of classes, drawn: as a dendrogram with a class on each line, or around a circle."""

import math
from collections.abc import Iterator, Mapping
from typing import Literal, get_args

from samekind.reports.names import shortened, tell_whole
from samekind.reports.panels import Axes, Figure, Text, dress, new_figure, plain
from samekind.reports.style import INK, MUTED, SMALL, WRONG
from samekind.taxonomy import Tree

Shape = Literal["dendrogram", "radial"]
Point = tuple[float, float]
Colour = str | tuple[float, float, float]

#: Leaves that one picture holds at most: matplotlib draws no larger ones.
MOST_LEAVES = 1500
LONGEST_NAME = 40
#: Inches: the height of a line, with few leaves and with more than `FEW`; the width of the tree itself.
LINES, FEW, WIDE = (0.19, 0.135), 60, 5.0
#: Points of text, in the same two cases, and of the names of inner nodes.
SIZES, INNER = (SMALL, 6.5), 5.5
#: Names that were made up for nodes without one are not shown.
MADE_UP = "node "
#: What a letter is wide, in parts of its height.
LETTER = 0.58


def tree_picture(
    tree: Tree, *, shape: Shape = "dendrogram", mistakes: Mapping[str, float] | None = None
) -> Figure:
    """A tree with its leaves on lines below each other ("dendrogram"), or around a circle ("radial").

    Edges are as long as in the tree; where no edge has a length, a step each. Dotted lines lead from short
    branches to their names. ``mistakes`` has a share, 0 to 1, for some classes: the more, the more orange the
    name, with the share behind it. Raises ValueError for too many leaves, an unknown shape or another share.
    """
    leaves = tree.leaves()
    if len(leaves) > MOST_LEAVES:
        raise ValueError(f"expected at most {MOST_LEAVES:,} leaves to draw, got {len(leaves):,}")
    if shape not in get_args(Shape):
        raise ValueError(f"expected a shape of {', '.join(get_args(Shape))}, got {shape!r}")
    for name, share in (mistakes or {}).items():
        if not 0 <= share <= 1:
            raise ValueError(f'expected shares of mistakes from 0 to 1, got {share} for "{name}"')
    layout = _Layout(tree, mistakes or {})
    return _dendrogram(layout) if shape == "dendrogram" else _radial(layout)


class _Layout:
    """Where the nodes of a tree stand: how far from the root (0 to 1), and on which line (leaves from 0)."""

    def __init__(self, tree: Tree, mistakes: Mapping[str, float]) -> None:
        self.tree, self.mistakes = tree, mistakes
        self.leaves = [tree.place(name) for name in tree.leaves()]
        self.small = len(self.leaves) > FEW
        self.size = SIZES[self.small]
        self.names = shortened([tree.names[place] for place in self.leaves], LONGEST_NAME)
        away = [0.0] * len(tree.names)
        for place in range(1, len(away)):
            away[place] = away[tree.parents[place]] + tree.lengths[place]
        self.longest = max(away)
        if self.longest == 0:
            away = [float(depth) for depth in tree.depths]
        self.away = [value / (max(away) or 1.0) for value in away]
        self.line = [0.0] * len(tree.names)
        for number, place in enumerate(self.leaves):
            self.line[place] = float(number)
        for place in range(len(tree.names) - 1, -1, -1):
            if children := tree.children_places[place]:
                self.line[place] = (self.line[children[0]] + self.line[children[-1]]) / 2

    def colour(self, place: int) -> Colour:
        """That of a node's name and edge, by the mistakes of its class."""
        from matplotlib.colors import to_rgb

        share = self.mistakes.get(self.tree.names[place], 0.0)
        mixed = [
            (1 - share) * ink + share * wrong for ink, wrong in zip(to_rgb(INK), to_rgb(WRONG), strict=True)
        ]
        return mixed[0], mixed[1], mixed[2]

    def labels(self) -> Iterator[tuple[int, str]]:
        """The leaves, with what is written beside each."""
        for place, name in zip(self.leaves, self.names, strict=True):
            share = self.mistakes.get(self.tree.names[place])
            yield place, name if share is None else f"{name}  {100 * share:.0f} %"

    def inner(self) -> Iterator[tuple[int, str]]:
        """The inner nodes that have a name of their own, below the root."""
        for place in range(1, len(self.tree.names)):
            name = self.tree.names[place]
            if self.tree.heights[place] and not name.startswith(MADE_UP):
                share = self.mistakes.get(name)
                yield place, name if share is None else f"{name}  {100 * share:.0f} %"

    def room(self) -> float:
        """The width of the longest label, in inches."""
        return max(len(text) for _, text in self.labels()) * self.size * LETTER / 72


def _dendrogram(layout: _Layout) -> Figure:
    count, room = len(layout.leaves), layout.room()
    height = max(1.2, LINES[layout.small] * count + 0.7)
    figure = new_figure(WIDE + room, height)
    axes, lines = figure.subplots(), _Lines()
    dress(axes, x="distance from the root" if layout.tree.has_lengths else "", grid=None)
    axes.set(xlim=(-0.01, 1 + room / WIDE), ylim=(count - 0.4, -0.6), yticks=[])
    _hide_frame(axes, layout)
    for place, above in enumerate(layout.tree.parents[1:], start=1):
        line, start, end = layout.line[place], layout.away[above], layout.away[place]
        lines.branch([(start, layout.line[above]), (start, line)])
        lines.branch([(start, line), (end, line)], layout.colour(place))
    for place, text in layout.labels():
        line = layout.line[place]
        lines.lead((layout.away[place], line), (1.0, line))
        label = axes.text(
            1.01, line, plain(text), color=layout.colour(place), fontsize=layout.size, va="center"
        )
        tell_whole(label, layout.tree.names[place])
    for place, text in layout.inner():
        at = layout.away[place], layout.line[place]
        _inner_label(axes, layout, place, text, at).set(ha="right", va="bottom")
    lines.draw(axes)
    return figure


def _radial(layout: _Layout) -> Figure:
    count, room = len(layout.leaves), layout.room()
    radius = max(1.3, LINES[layout.small] * count / (2 * math.pi))
    side = 2 * (radius + room + 0.15)
    figure = new_figure(side, side)
    axes, lines = figure.subplots(), _Lines()
    dress(axes, grid=None)
    edge = side / 2 / radius
    axes.set(xlim=(-edge, edge), ylim=(-edge, edge), xticks=[], yticks=[], aspect="equal")
    _hide_frame(axes, None)
    inner = 0.06  # the root is a small circle, so that its branches start apart
    away = [inner + (1 - inner) * value for value in layout.away]
    angles = [2 * math.pi * line / count for line in layout.line]
    for place, above in enumerate(layout.tree.parents[1:], start=1):
        turn = [angles[above] + (angles[place] - angles[above]) * step / 24 for step in range(25)]
        lines.branch([_at(angle, away[above]) for angle in turn])
        lines.branch([_at(angles[place], far) for far in (away[above], away[place])], layout.colour(place))
    for place, text in layout.labels():
        lines.lead(_at(angles[place], away[place]), _at(angles[place], 1.0))
        label = axes.text(*_at(angles[place], 1.0 + 0.05 / radius), plain(text), color=layout.colour(place))
        _along(label, angles[place], layout.size, outwards=True)
        tell_whole(label, layout.tree.names[place])
    for place, text in layout.inner():
        if (away[place] - away[layout.tree.parents[place]]) * radius < len(text) * INNER * LETTER / 72:
            continue  # it would lie over other branches
        label = _inner_label(axes, layout, place, text, _at(angles[place], away[place]))
        _along(label, angles[place], INNER, outwards=False)
    lines.draw(axes)
    return figure


def _at(angle: float, away: float) -> Point:
    """The point in this direction, clockwise from the top."""
    return away * math.sin(angle), away * math.cos(angle)


def _along(label: Text, angle: float, size: float, *, outwards: bool) -> None:
    """Turn a text along the radius, so that nobody has to stand on their head."""
    degrees = 90 - math.degrees(angle)
    right_half = math.sin(angle) >= -1e-9
    starts = right_half == outwards
    label.set(
        rotation=degrees if right_half else degrees + 180,
        rotation_mode="anchor",
        ha="left" if starts else "right",
        va="center" if outwards else "bottom",
        fontsize=size,
    )


class _Lines:
    """Lines of a picture, drawn all at once: that takes a tenth of the time."""

    def __init__(self) -> None:
        self.branches: list[tuple[list[Point], Colour]] = []
        self.leads: list[list[Point]] = []

    def branch(self, points: list[Point], colour: Colour = INK) -> None:
        self.branches.append((points, colour))

    def lead(self, start: Point, end: Point) -> None:
        """A dotted line from a leaf to its name, if they are apart."""
        if math.dist(start, end) > 0.01:
            self.leads.append([start, end])

    def draw(self, axes: Axes) -> None:
        from matplotlib.collections import LineCollection

        points, colours = [line for line, _ in self.branches], [colour for _, colour in self.branches]
        axes.add_collection(LineCollection(points, colors=colours, linewidths=0.8, capstyle="round"))
        axes.add_collection(LineCollection(self.leads, colors=MUTED, linewidths=0.4, linestyles=(0, (1, 2))))


def _inner_label(axes: Axes, layout: _Layout, place: int, text: str, at: Point) -> Text:
    colour = layout.colour(place) if layout.tree.names[place] in layout.mistakes else MUTED
    label = axes.text(*at, plain(text) + " ", fontsize=INNER, color=colour)
    tell_whole(label, layout.tree.names[place])
    return label


def _hide_frame(axes: Axes, layout: _Layout | None) -> None:
    """Leave the axis below of a tree with lengths, and nothing else."""
    for spine in axes.spines.values():
        spine.set_visible(False)
    if layout is None or not layout.tree.has_lengths or not layout.longest:
        axes.set_xticks([])
        return
    from matplotlib.ticker import MaxNLocator

    marks = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(0, layout.longest)
    lengths = [length for length in marks if length <= layout.longest]
    axes.set_xticks([length / layout.longest for length in lengths], [f"{length:g}" for length in lengths])

"""Robustness curves: what remains right as the attacker may change more."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from samekind.reports.panels import Figure, dress, legend, new_figure, plain
from samekind.reports.style import DASHES, HALF, SERIES

#: Inches that a line of the legend needs.
LINE = 0.19


class Line(NamedTuple):
    """Values and their intervals, in shares, at each epsilon."""

    epsilons: Sequence[float]
    values: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]


def robustness_curves(lines: Mapping[str, Line], *, x: str, y: str) -> Figure:
    """One named line each over epsilon, in per cent, with its 95 % intervals as a band. ``x`` and ``y`` are
    the words at the axes. No line at all is a ``ValueError``.
    """
    if not lines:
        raise ValueError("expected at least one line to draw, got none")
    figure = new_figure(HALF, 3.1 + LINE * len(lines))
    axes = figure.subplots()
    dress(axes, x=x, y=y)
    for index, (name, line) in enumerate(lines.items()):
        colour, style = SERIES[index % len(SERIES)], DASHES[index % len(DASHES)]
        values, lows, highs = ([100 * value for value in part] for part in line[1:])
        axes.fill_between(line.epsilons, lows, highs, color=colour, alpha=0.13, linewidth=0)
        axes.plot(
            line.epsilons,
            values,
            color=colour,
            linestyle=style,
            linewidth=1.5,
            marker="o",
            markersize=3.5,
            label=plain(name),
        )
    axes.set_ylim(-2, 102)
    axes.margins(x=0.02)
    legend(axes, columns=1)
    return figure

"""False accepts against false rejects at every threshold.

Martin et al., "The DET Curve in Assessment of Detection Task Performance", Eurospeech 1997.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from samekind.measures import ErrorRates
from samekind.reports.panels import Axes, Figure, dress, legend, new_figure, plain
from samekind.reports.style import DASHES, HALF, MUTED, SERIES

TICKS = (1e-5, 1e-4, 1e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.98)
#: How far below the lowest rate of an axis, in standard deviations, even lower ones and 0 are drawn.
GROUND = 0.45
#: Inches that a line of the legend needs, and the longest words of which two fit beside each other.
LINE, LONGEST_OF_TWO = 0.19, 28


class _Limits(NamedTuple):
    """The rates an axis shows."""

    low: float
    high: float


def error_tradeoff(curves: Mapping[str, ErrorRates]) -> Figure:
    """One line per named curve on normal-deviate axes in per cent; a dot where it meets the diagonal.

    On these axes normally distributed scores give straight lines, and small rates have room. The legend has
    the equal error rate, which for few pairs may differ a little from the dot. A rate of 0 is drawn on a line
    of its own below the lowest tick. No curve at all is a ``ValueError``.
    """
    if not curves:
        raise ValueError("expected at least one curve to draw, got none")
    equal = {name: _equal_error(rates) for name, rates in curves.items()}
    limits = _limits(list(equal.values()))
    labels = {name: f"{name}, EER {100 * rate:.2f} %" for name, rate in equal.items()}
    columns = 2 if max(map(len, labels.values())) <= LONGEST_OF_TWO else 1
    figure = new_figure(HALF, HALF + LINE * -(-(len(curves) + 1) // columns))
    axes = figure.subplots()
    dress(axes, x="different pairs accepted, %", y="same pairs refused, %", grid="both")
    for index, (name, rates) in enumerate(curves.items()):
        colour, style = SERIES[index % len(SERIES)], index % len(DASHES)
        points = _thinned(rates, limits)
        line = axes.plot(*points, color=colour, linewidth=1.6, label=plain(labels[name]))[0]
        # Dashes above full lines: where two curves are the same, both can be seen.
        line.set(linestyle=DASHES[style], zorder=2 + style / 10)
        at = _crossing(points)
        axes.plot([at], [at], "o", color=colour, markersize=4.5, zorder=3)
    _draw_axes(axes, limits)
    legend(axes, columns=columns)
    return figure


def _equal_error(rates: ErrorRates) -> float:
    """The mean of the two rates at the threshold where they are nearest to each other."""
    nearest = int((rates.false_accepts - rates.false_rejects).abs().argmin())
    return float(rates.false_accepts[nearest] + rates.false_rejects[nearest]) / 2


def _limits(equal: list[float]) -> _Limits:
    """Limits around the lowest (above 0) and the highest equal error rate."""
    lowest = min([rate for rate in equal if rate > 0], default=0.01)
    low = next((floor for floor in (1e-2, 1e-3, 1e-4) if floor <= lowest / 4), 1e-5)
    return _Limits(low, 0.5 if max(equal) < 0.2 else 0.9 if max(equal) < 0.6 else 0.99)


def _places(rates: np.ndarray, limits: _Limits) -> np.ndarray:
    """Rates as standard normal quantiles; those below the limits together on the ground."""
    from scipy.special import ndtri

    ground = ndtri(limits.low) - GROUND
    # 1 has no quantile either, but lies beyond the edge anyway.
    quantiles: np.ndarray = ndtri(np.clip(rates, limits.low, 1 - 1e-9))
    return np.where(rates < limits.low, ground, quantiles)


def _thinned(rates: ErrorRates, limits: _Limits) -> np.ndarray:
    """The curve (2, points) without points that fall on the one before."""
    errors = (rates.false_accepts, rates.false_rejects)
    points = np.stack([_places(error.cpu().numpy(), limits) for error in errors])
    cells = (points * 200).round()
    moved = np.r_[True, (cells[:, 1:] != cells[:, :-1]).any(0)]
    return points[:, moved]


def _crossing(points: np.ndarray) -> float:
    """Where a curve (2, points), drawn from point to point, meets the diagonal."""
    above = points[1] - points[0]
    # It goes from where all is refused, above the diagonal, to where all is accepted, below it.
    after = int((above <= 0).argmax())
    share = above[after - 1] / (above[after - 1] - above[after])
    return float(points[0, after - 1] + share * (points[0, after] - points[0, after - 1]))


def _draw_axes(axes: Axes, limits: _Limits) -> None:
    """Ticks in per cent, the ground, and the diagonal of equal errors."""
    ticks = np.array([0, *(tick for tick in TICKS if limits.low <= tick <= limits.high)])
    names = [f"<{100 * limits.low:g}", *(f"{100 * tick:g}" for tick in ticks[1:])]
    ends = (_places(ticks[:1], limits)[0] - 0.1, _places(np.array([limits.high]), limits)[0])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(_places(ticks, limits), labels=names)
    axes.set(xlim=ends, ylim=ends, aspect="equal")
    axes.set_anchor("N")  # the room that a square leaves is the legend's
    axes.plot(ends, ends, color=MUTED, linewidth=0.9, linestyle=DASHES[2], zorder=1, label="equal errors")

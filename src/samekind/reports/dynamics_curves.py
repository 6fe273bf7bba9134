"""Effects of single training steps on spaces, drawn over the steps."""

from collections.abc import Mapping, Sequence

import numpy as np

from samekind.measures.geometry import DYNAMICS
from samekind.reports.panels import Axes, Figure, dress, legend, new_figure, plain
from samekind.reports.style import DASHES, FULL, MUTED, SERIES

#: Steps, and a value for each, None where it is undefined, by the names of DYNAMICS.
Curve = tuple[Sequence[int], Mapping[str, Sequence[float | None]]]

TITLES = {
    "norm_ratio": "norm ratio (1: no rescaling)",
    "con_alpha": "con-alpha (below 1: nearer to the own class)",
    "div_alpha": "div-alpha (above 1: away from the others)",
    "con_div": "con-div (below 1: both)",
}
#: A line is a running mean over this share of the steps.
SMOOTHED = 0.05


def dynamics_curves(runs: Mapping[str, Curve]) -> Figure:
    """Four panels, one for each of `DYNAMICS`: the steps of each run as dots, and a line through them, their
    running geometric mean. A thin line marks 1. No run at all, or one without steps, is a ``ValueError``.
    """
    if not runs or not all(len(steps) for steps, _ in runs.values()):
        raise ValueError("expected at least one run, each with a step or more to draw")
    figure = new_figure(FULL, 6.4)
    panels = figure.subplots(2, 2).flatten()
    for axes, measure in zip(panels, DYNAMICS, strict=True):
        dress(axes, title=TITLES[measure], x="step")
        axes.axhline(1, color=MUTED, linewidth=0.9, zorder=1)
        for index, (name, (steps, values)) in enumerate(runs.items()):
            _draw(axes, steps, values[measure], name, index)
        legend(axes, columns=2)
    return figure


def _draw(axes: Axes, steps: Sequence[int], values: Sequence[float | None], name: str, index: int) -> None:
    defined = [(s, v) for s, v in zip(steps, values, strict=True) if v is not None and v > 0]
    at, factors = np.array(defined, dtype=float).reshape(-1, 2).T
    colour, dashes = SERIES[index % len(SERIES)], DASHES[index % len(DASHES)]
    axes.plot(at, factors, ".", color=colour, markersize=3, alpha=0.35, markeredgewidth=0)
    mean = _running_mean(factors)
    axes.plot(at, mean, color=colour, linewidth=1.6, linestyle=dashes, label=plain(name))


def _running_mean(factors: np.ndarray) -> np.ndarray:
    """The geometric mean of each factor and its neighbours, (n,) -> (n,); fewer of them at the ends."""
    half = max(1, round(SMOOTHED * len(factors) / 2))
    sums = np.concatenate([[0.0], np.log(factors).cumsum()])
    places = np.arange(len(factors))
    low, high = np.maximum(places - half, 0), np.minimum(places + half + 1, len(factors))
    means: np.ndarray = np.exp((sums[high] - sums[low]) / (high - low))
    return means

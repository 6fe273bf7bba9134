"""Dynamics drawn: dots at the steps, a running geometric mean through them, nothing where undefined."""

import numpy as np
import pytest

from samekind.measures.geometry import DYNAMICS
from samekind.reports import dynamics_curves
from samekind.reports.dynamics_curves import _running_mean


def test_dots_and_a_line_for_each_run():
    runs = {
        "softmax": ((10, 20, 30), dict.fromkeys(DYNAMICS, (0.5, None, 2.0))),
        "ratio": ((10, 20), {**dict.fromkeys(DYNAMICS, (1.0, 1.1)), "con_alpha": (0.9, 0.0)}),
    }
    figure = dynamics_curves(runs)
    assert [axes.get_title(loc="left").split(" (")[0] for axes in figure.axes] == [
        "norm ratio",
        "con-alpha",
        "div-alpha",
        "con-div",
    ]
    for axes in figure.axes:
        _, dots, line, other, _ = axes.lines  # after the line at 1
        assert dots.get_xdata().tolist() == [10, 30]
        assert line.get_ydata().tolist() == pytest.approx([1, 1])
        assert [text.get_text() for text in axes.get_legend().get_texts()] == ["softmax", "ratio"]
        assert len(other.get_xdata()) == (1 if axes is figure.axes[1] else 2)


def test_the_line_is_the_geometric_mean_of_neighbours():
    factors = np.exp(np.arange(100.0) ** 1.5 / 50)
    smooth = _running_mean(factors)
    for place in range(100):
        around = factors[max(place - 2, 0) : place + 3]
        assert smooth[place] == pytest.approx(np.exp(np.log(around).mean()))


@pytest.mark.parametrize("runs", [{}, {"empty": ((), dict.fromkeys(DYNAMICS, ()))}])
def test_nothing_to_draw_is_refused(runs):
    with pytest.raises(ValueError, match="at least one run, each with a step"):
        dynamics_curves(runs)

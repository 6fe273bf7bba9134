"""The error trade-off: rates in their places, equal errors as measured, and curves without errors."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.stats import norm

from samekind.measures import equal_error_rate, error_rates
from samekind.reports import error_tradeoff


def trials(gap, count=400):
    generator = torch.Generator().manual_seed(0)
    same = torch.arange(count) % 2 == 0
    return torch.randn(count, generator=generator) + gap * same, same


def curve(figure, index=0):
    """The points of a named curve, as rates."""
    lines = [line for line in figure.axes[0].lines if "EER" in line.get_label()]
    return [norm.cdf(list(value)) for value in lines[index].get_data()]


def ticks(figure):
    axes = figure.axes[0]
    return [label.get_text() for label in axes.get_xticklabels()]


@pytest.mark.parametrize("gap", [0.5, 2.0, 4.0])
def test_the_equal_error_in_the_legend_is_the_measure(gap):
    scores, same = trials(gap)
    figure = error_tradeoff({"mine": error_rates(scores, same)})
    rate = 100 * equal_error_rate(scores, same).rate
    words = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert words == [f"mine, EER {rate:.2f} %", "equal errors"]


@pytest.mark.parametrize("count", [8, 12, 30, 400])
def test_the_dot_is_where_the_line_crosses_the_diagonal(count):
    scores, same = trials(1.0, count)
    axes = error_tradeoff({"mine": error_rates(scores, same)}).axes[0]
    [dot] = [line for line in axes.lines if line.get_marker() == "o"]
    [[x, y]] = dot.get_xydata().tolist()
    assert x == y
    [line] = [line for line in axes.lines if "EER" in line.get_label()]
    points = line.get_xydata()
    # On one of the pieces from a point to the next: as far from both together as they are from each other.
    detours = [
        np.hypot(*(one - (x, y))) + np.hypot(*(other - (x, y))) - np.hypot(*(one - other))
        for one, other in pairwise(points)
    ]
    assert min(detours) < 1e-9


@pytest.mark.parametrize("gaps", [range(5), [3], [3] * 5, [3] * 10])
@pytest.mark.parametrize("name", ["mine", "a system of a quite long name · similarity"])
def test_the_legend_hides_no_curve(name, gaps):
    figure = error_tradeoff({f"{name} {n}": error_rates(*trials(gap)) for n, gap in enumerate(gaps)})
    figure.draw_without_rendering()
    axes = figure.axes[0]
    legend = axes.get_legend().get_window_extent()
    assert legend.y1 < axes.xaxis.label.get_window_extent().y0 + 1
    assert legend.y0 >= figure.bbox.y0
    assert figure.bbox.x0 <= legend.x0 < legend.x1 <= figure.bbox.x1


def test_the_curve_is_made_of_the_rates_on_normal_deviate_axes():
    scores, same = trials(1.0)
    rates = error_rates(scores, same)
    drawn = curve(error_tradeoff({"mine": rates}))
    pairs = {
        (round(x, 6), round(y, 6))
        for x, y in zip(*drawn, strict=True)
        if min(x, y) > 0.02 and max(x, y) < 0.9
    }
    known = zip(rates.false_accepts.tolist(), rates.false_rejects.tolist(), strict=True)
    assert len(pairs) > 20
    assert pairs <= {(round(x, 6), round(y, 6)) for x, y in known}


def test_ticks_are_in_per_cent_and_begin_with_what_is_lower():
    assert ticks(error_tradeoff({"mine": error_rates(*trials(2.0))})) == [
        "<1",
        "1",
        "2",
        "5",
        "10",
        "20",
        "40",
    ]


def test_a_curve_without_errors_is_drawn_along_the_ground():
    scores, same = torch.tensor([3.0, 2.0, 1.0, 0.0]), torch.tensor([True, True, False, False])
    figure = error_tradeoff({"perfect": error_rates(scores, same)})
    axes = figure.axes[0]
    ground = axes.get_xticks()[0]
    line = axes.lines[0]
    assert (ground, ground) in set(zip(*map(list, line.get_data()), strict=True))
    assert axes.get_xlim()[0] < ground < axes.get_xlim()[1]
    assert line.get_label() == "perfect, EER 0.00 %"
    figure.draw_without_rendering()


def test_a_curve_that_is_always_wrong_is_drawn_too():
    scores, same = torch.tensor([0.0, 1.0, 2.0, 3.0]), torch.tensor([True, True, False, False])
    figure = error_tradeoff({"hopeless": error_rates(scores, same)})
    figure.draw_without_rendering()
    assert figure.axes[0].lines[0].get_label() == "hopeless, EER 100.00 %"


def test_coinciding_curves_are_distinguishable():
    rates = error_rates(*trials(1.0))
    lines = [
        line for line in error_tradeoff({"a": rates, "b": rates}).axes[0].lines if "EER" in line.get_label()
    ]
    assert lines[0].get_color() != lines[1].get_color()
    assert lines[0].get_linestyle() == "-" != lines[1].get_linestyle()
    assert lines[0].get_zorder() < lines[1].get_zorder()


def test_a_curve_of_very_many_trials_is_thinned():
    rates = error_rates(*trials(1.0, count=200_000))
    assert len(rates.thresholds) > 100_000
    assert len(curve(error_tradeoff({"mine": rates}))[0]) < 5_000


def test_refuses_no_curve():
    with pytest.raises(ValueError, match="at least one curve"):
        error_tradeoff({})

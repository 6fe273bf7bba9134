"""Measures against the training budget: a column for each norm, a dot for each space."""

import pytest

from samekind.reports.representation_bars import PANELS
from samekind.reports.representation_curves import representation_curves


def spaces(*values):
    return [dict.fromkeys(PANELS, value) for value in values]


def test_each_norm_has_a_column_with_the_undefended_at_zero():
    budgets = [("linf", 0.2), ("", 0.0), ("l2", 1.0), ("linf", 0.1), ("linf", 0.2), ("l1", 4.0)]
    figure = representation_curves(budgets, spaces(5.0, 1.0, 9.0, 2.0, 7.0, 3.0))
    assert len(figure.axes) == len(PANELS) * 3
    assert [axes.get_title(loc="left") for axes in figure.axes[::3]] == list(PANELS.values())
    assert [axes.get_xlabel() for axes in figure.axes[-3:]] == [
        "epsilon (linf)",
        "epsilon (l2)",
        "epsilon (l1)",
    ]
    line, dots = figure.axes[0].lines
    assert list(zip(*line.get_data(), strict=True)) == [(0.0, 1.0), (0.1, 2.0), (0.2, 6.0)]
    assert list(zip(*dots.get_data(), strict=True)) == [(0.0, 1.0), (0.1, 2.0), (0.2, 5.0), (0.2, 7.0)]
    assert list(zip(*figure.axes[1].lines[0].get_data(), strict=True)) == [(0.0, 1.0), (1.0, 9.0)]


def test_whole_numbers_have_whole_ticks():
    whole, parts = (
        representation_curves([("", 0.0), ("l2", 1.0)], spaces(*values)) for values in ((9, 10), (9.1, 10))
    )
    ticks = [[float(tick).is_integer() for tick in figure.axes[0].get_yticks()] for figure in (whole, parts)]
    assert all(ticks[0])
    assert not all(ticks[1])


def test_a_norm_with_one_epsilon_alone_is_left_out():
    figure = representation_curves([("linf", 0.1), ("linf", 0.2), ("l2", 1.0)], spaces(1.0, 2.0, 3.0))
    assert len(figure.axes) == len(PANELS)


@pytest.mark.parametrize("budgets", [[], [("", 0.0)], [("", 0.0), ("", 0.0)], [("linf", 0.1), ("l2", 0.1)]])
def test_nothing_to_draw_is_refused(budgets):
    with pytest.raises(ValueError, match="two epsilons"):
        representation_curves(budgets, spaces(*[1.0] * len(budgets)))

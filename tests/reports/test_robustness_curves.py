"""Robustness curves: a line each with its band, in per cent."""

import pytest

from samekind.reports.robustness_curves import Line, robustness_curves


def test_lines_have_their_values_in_per_cent():
    line = Line((0.0, 0.1, 0.2), (0.9, 0.5, 0.0), (0.8, 0.4, 0.0), (1.0, 0.6, 0.1))
    figure = robustness_curves({"similarity": line, "auxiliary": line}, x="epsilon", y="right, %")
    [axes] = figure.axes
    assert [drawn.get_label() for drawn in axes.lines] == ["similarity", "auxiliary"]
    assert list(axes.lines[0].get_ydata()) == [90, 50, 0]
    assert len(axes.collections) == 2
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("epsilon", "right, %")


def test_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match="at least one line"):
        robustness_curves({}, x="", y="")

"""Bars of feature spaces: one for each space in each panel."""

import pytest

from samekind.reports.representation_bars import PANELS, representation_bars


def test_each_panel_has_a_bar_for_each_space():
    spaces = [dict.fromkeys(PANELS, value) for value in (0.5, -0.25, 3.0)]
    figure = representation_bars(["a", "b", "$c"], spaces)
    assert [axes.get_title(loc="left") for axes in figure.axes] == list(PANELS.values())
    for axes in figure.axes:
        assert [bar.get_width() for bar in axes.patches] == [0.5, -0.25, 3.0]
        assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b", r"\$c"]


@pytest.mark.parametrize(("names", "spaces"), [([], []), (["a"], [])])
def test_nothing_to_draw_is_refused(names, spaces):
    with pytest.raises(ValueError, match="expected"):
        representation_bars(names, spaces)

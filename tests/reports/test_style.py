"""The look: distinct colours, no background, names as they are written."""

import doctest
from itertools import combinations

import pytest
from matplotlib import rc_context, rcParams
from matplotlib.colors import to_rgb

from samekind.reports import style


def seen_by_a_deuteranope(colour):
    """Machado et al., "A Physiologically-based Model for Simulation of Color Vision Deficiency", 2009."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    matrix = [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]
    return [sum(m * c for m, c in zip(row, linear, strict=True)) for row in matrix]


@pytest.mark.parametrize(("one", "other"), list(combinations(style.SERIES, 2)))
def test_colours_stay_apart_for_the_colour_blind(one, other):
    a, b = seen_by_a_deuteranope(one), seen_by_a_deuteranope(other)
    assert sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5 > 0.1


def test_red_and_green_would_not_pass():
    a, b = seen_by_a_deuteranope("#b03030"), seen_by_a_deuteranope("#507020")
    assert sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5 < 0.1


def test_a_panel_does_not_depend_on_the_readers_settings():
    before = dict(rcParams)
    with rc_context({"axes.labelcolor": "red", "axes.titlesize": 40, "figure.facecolor": "black"}):
        axes = style.new_figure(2, 2).subplots()
        style.dress(axes, title="a title", x="across", y="up")
    assert axes.xaxis.label.get_color() == style.MUTED
    assert axes.figure.get_facecolor()[3] == 0
    assert [
        text.get_size() for text in axes.get_children() if getattr(text, "get_text", str)() == "a title"
    ] == [style.LARGE]
    assert dict(rcParams) == before


def test_a_dollar_sign_is_a_dollar_sign():
    axes = style.new_figure(2, 2).subplots()
    label = style.write(axes, (0, 0), "from $5 to $6")
    axes.figure.draw_without_rendering()
    assert label.get_text() == r"from \$5 to \$6"


def test_doctests():
    assert doctest.testmod(style).failed == 0

"""Panels: no background, words as they are written, whatever the settings of the reader."""

from matplotlib import rc_context, rcParams

from samekind.reports.panels import dress, new_figure, write
from samekind.reports.style import LARGE, MUTED


def test_a_panel_does_not_depend_on_the_readers_settings():
    before = dict(rcParams)
    with rc_context({"axes.labelcolor": "red", "axes.titlesize": 40, "figure.facecolor": "black"}):
        axes = new_figure(2, 2).subplots()
        dress(axes, title="a title", x="across", y="up")
    assert axes.xaxis.label.get_color() == MUTED
    assert axes.figure.get_facecolor()[3] == 0
    assert [
        text.get_size() for text in axes.get_children() if getattr(text, "get_text", str)() == "a title"
    ] == [LARGE]
    assert dict(rcParams) == before


def test_a_dollar_sign_is_a_dollar_sign():
    axes = new_figure(2, 2).subplots()
    label = write(axes, (0, 0), "from $5 to $6")
    axes.figure.draw_without_rendering()
    assert label.get_text() == r"from \$5 to \$6"

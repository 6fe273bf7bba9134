"""Pictures: small ones drawn, large ones pixels, both of one piece with the page."""

import base64
import io
import re
import xml.etree.ElementTree as ElementTree

import pytest
from matplotlib import rcParams
from PIL import Image

from samekind.reports.names import tell_whole
from samekind.reports.panels import new_figure
from samekind.reports.picture import picture


@pytest.fixture
def figure():
    figure = new_figure(4, 3)
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], "o-", label="a line")
    axes.set_title("words <&>")
    return figure


def test_a_drawing_keeps_its_words_and_its_shape(figure):
    html = picture(figure, name="first", description='a "quoted" <name>')
    # An HTML parser knows the prefix of links inside a drawing; an XML parser has to be told.
    root = ElementTree.fromstring(html.replace("<svg", '<svg xmlns:xlink="x"', 1))
    assert root.get("viewBox") == "0 0 288 216"
    assert root.get("aria-label") == 'a "quoted" <name>'
    assert "words <&>" in [element.text for element in root.iter("text")]


@pytest.mark.parametrize("name", ["albatross", 'an "albatross" <&>', """an 'albatross' of "two"\nlines"""])
def test_a_shortened_name_has_the_whole_one_as_tooltip(figure, name):
    short = figure.axes[0].text(0, 0, "alb…")
    tell_whole(short, name)
    html = picture(figure, name="first", description="")
    root = ElementTree.fromstring(html.replace("<svg", '<svg xmlns:xlink="x"', 1))
    [group] = [group for group in root.iter("g") if group.find("title") is not None]
    assert group[0].tag == "title"
    assert group[0].text == name
    assert "alb…" in [element.text for element in group.iter("text")]


def test_a_drawing_brings_no_style_or_address_from_elsewhere(figure):
    html = picture(figure, name="first", description="")
    assert not [words for words in ("http", "<style", "<metadata") if words in html]


def test_no_two_drawings_share_an_identifier(figure):
    names = [
        set(re.findall(r'id="([^"]+)"', picture(figure, name=name, description="")))
        for name in ("first", "second")
    ]
    assert names[0].isdisjoint(names[1])
    html = picture(figure, name="first", description="")
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', html))
    assert set() < used <= names[0]


def test_a_heavy_drawing_becomes_pixels_two_for_each_of_the_page(figure, monkeypatch):
    monkeypatch.setattr("samekind.reports.picture.HEAVIEST_DRAWING", 100)
    html = picture(figure, name="first", description="<name>")
    assert html.startswith("<img ")
    assert 'alt="&lt;name&gt;"' in html
    content = re.search(r'src="data:image/png;base64,([^"]+)"', html)[1]
    assert Image.open(io.BytesIO(base64.b64decode(content))).size == (4 * 192, 3 * 192)


def test_only_a_wide_figure_refuses_to_shrink(figure):
    assert "min-width" not in picture(figure, name="first", description="")
    assert "min-width" in picture(new_figure(10, 3), name="first", description="")


def test_the_settings_of_matplotlib_are_left_alone(figure):
    before = dict(rcParams)
    picture(figure, name="first", description="")
    assert dict(rcParams) == before

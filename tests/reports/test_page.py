"""The page: parses, stands alone, and shows text as text."""

import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from samekind.reports.page import Section, page
from samekind.reports.panels import new_figure
from samekind.reports.style import BESIDE, FULL
from samekind.reports.tables import MOST_IN_A_LINE

VOID = {"meta", "img", "col", "br", "hr", "link", "input"}


class Checker(HTMLParser):
    """Every tag closed in its turn; all addresses collected."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.addresses = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.addresses += [
            value for name, value in attributes if name in ("src", "href", "xlink:href", "srcset")
        ]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def drawn(width):
    figure = new_figure(width, 1)
    figure.subplots().plot([0, 1])
    return figure


def test_a_page_is_well_formed_and_stands_alone():
    sections = [
        Section("Both", "two of them", figure={"left": drawn(2), "right": drawn(2)}),
        Section("One", "a figure", figure=drawn(2)),
        Section("Table", "no figure", html="<table><tr><td>1</td></tr></table>"),
    ]
    html = page("Title", "Lead.", sections)
    checker = Checker(html)
    assert checker.open == []
    assert all(address.startswith(("#", "data:")) for address in checker.addresses)
    assert not [words for words in ("http://", "https://", "@import") if words in html]
    assert [tag for tag, _ in checker.tags].count("svg") == 3
    identifiers = [attributes["id"] for _, attributes in checker.tags if "id" in attributes]
    assert len(identifiers) == len(set(identifiers)) > 0


def test_text_is_text_and_html_is_html():
    html = page(
        "<b>title", "<i>lead", [Section("<u>heading", "<s>caption", {"<em>word": drawn(2)}, "<ul></ul>")]
    )
    for tag in ("<b>", "<i>", "<u>", "<s>", "<em>"):
        assert tag not in html
    for words in ("&lt;b&gt;title", "&lt;i&gt;lead", "&lt;u&gt;heading", "&lt;s&gt;caption", "<ul></ul>"):
        assert words in html


def test_a_figure_that_leaves_room_has_its_words_beside_it():
    def kinds(figure):
        return [
            attributes["class"]
            for tag, attributes in Checker(page("", "", [figure])).tags
            if tag == "section"
        ]

    assert kinds(Section("", "", drawn(BESIDE))) == ["beside"]
    assert kinds(Section("", "", drawn(FULL))) == ["below"]
    assert kinds(Section("", "", {"one": drawn(2), "other": drawn(2)})) == ["below"]
    assert kinds(Section("", "", html="<p></p>")) == ["below"]


def test_sections_come_in_their_order():
    html = page("", "", [Section("first", ""), Section("second", "")])
    assert html.index("first") < html.index("second")


# --- widths -----------------------------------------------------------------------------------------

STYLE = files("samekind.reports").joinpath("page.css").read_text(encoding="utf-8")
WIDE, _, SMALL_SCREENS = STYLE.partition("@media (max-width: 820px)")


def pixels(selector, what="width", style=WIDE):
    """What the style sheet says of a selector."""
    [rule] = re.findall(rf"(?:^|\n)\s*{re.escape(selector)} {{([^}}]*)}}", style)
    return int(re.search(rf"\b{what}: (?:[^;]* )?(\d+)px", rule)[1])


def wide(text, size=14, weight="normal"):
    """How wide a text is in DejaVu Sans, a font that takes much room."""
    path = TextPath((0, 0), text, size=size, prop=FontProperties(family="DejaVu Sans", weight=weight))
    return path.get_extents().x1


def test_as_many_columns_as_the_demo_has_fit_beside_each_other():
    """Three kinds of score of two systems; of five columns the intervals stand beside the values."""
    inside = pixels("body", "max-width") - 2 * 56
    assert "padding: 72px 56px 88px" in WIDE
    names = pixels("col.measure") + pixels("col.items")
    assert names + 6 * pixels(".many col") <= inside
    assert names + MOST_IN_A_LINE * pixels("col") <= inside


@pytest.mark.parametrize(
    ("style", "column"),
    [(WIDE, ".many col"), (SMALL_SCREENS, "col, .many col")],
    ids=["wide", "small screens"],
)
def test_what_stands_in_a_narrow_column_does_not_touch_the_next(style, column):
    room = pixels(column, style=style) - 8
    assert ".spread { display: block; }" in style
    heads = pixels('thead th[scope="col"]', "font-size", style) if style is SMALL_SCREENS else 14
    for text, size, weight in (
        ("100.00", 14, "bold"),
        ("(98.6\u2013100)", 12, "normal"),
        ("(44.5\u201392.4)", 12, "normal"),
        ("similarity", heads, "normal"),
        ("commonest", heads, "normal"),
    ):
        assert wide(text, size, weight) <= room, text


def test_value_and_interval_fit_beside_each_other():
    assert wide("100.00", weight="bold") + wide(" (98.6\u2013100)", 12) <= pixels("col") - 8


def test_a_name_of_two_lines_does_not_touch_what_is_beside_it():
    assert 'th[scope="rowgroup"], th.items { padding-left: 0; padding-right: 8px;' in WIDE
    [rule] = re.findall(r'th\[scope="rowgroup"\], th.items {([^}]*)}', STYLE)
    assert "white-space: normal" in rule
    assert wide("3-way 1-shot harmonic mean, %") <= pixels("col.measure") - 8
    assert wide("seen, unseen") <= pixels("col.items") - 8
    # On a small screen in two lines, so that no single word may be wider.
    assert wide("threshold,") <= pixels("col.measure", style=SMALL_SCREENS) - 8
    assert wide("unseen") <= pixels("col.items", style=SMALL_SCREENS) - 8


def test_a_name_that_is_not_utf_8_is_escaped():
    assert r"b\udcff.png" in page("b\udcff.png", "", []).encode().decode()


def test_a_folded_section_shows_its_heading_and_opens():
    html = page("", "", [Section("Open", "a"), Section("Folded", "b", drawn(2), folded=True)])
    assert Checker(html).open == []
    assert "<section><details><summary><h2>Folded</h2></summary>" in html
    assert html.count("<details>") == 1

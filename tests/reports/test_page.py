"""The page: parses, stands alone, and shows text as text."""

from html.parser import HTMLParser

from samekind.reports.page import Section, page
from samekind.reports.style import BESIDE, FULL, new_figure

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


def test_a_name_that_is_no_text_is_escaped():
    assert r"b\udcff.png" in page("b\udcff.png", "", []).encode().decode()

"""The files of the page, without a browser: all of them are there, small, and of this package alone."""

import re
from pathlib import Path

import pytest

from samekind import serving

PAGE = Path(serving.__file__).parent / "page"
OWN = [path for path in sorted(PAGE.rglob("*")) if path.is_file() and "vendor" not in path.parts]
SCRIPTS = [path for path in OWN if path.suffix == ".js"]
IMPORT = re.compile(r'(?:from|import\(|addModule\(new URL\()\s*"([^"]+)"')
LONGEST = 200


def outside(text):
    """Addresses of other machines, apart from names of XML languages, which nobody fetches."""
    return [
        url for url in re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"')]*", text) if "www.w3.org/" not in url
    ]


def inline(text):
    """Scripts and styles in a page that its policy would refuse."""
    tags = re.findall(r"<script(?![^>]*\ssrc=)|<style", text)
    return tags + re.findall(r"\s(?:on\w+|style)=\"", text)


def imported(path):
    """What a script imports."""
    return [(path.parent / name).resolve() for name in IMPORT.findall(path.read_text(encoding="utf-8"))]


def test_everything_that_is_named_is_there():
    names = re.findall(r'(?:src|href)="/page/([^"]+)"', (PAGE / "index.html").read_text(encoding="utf-8"))
    wanted = [*(PAGE / name for name in names), *(other for path in SCRIPTS for other in imported(path))]
    assert len(wanted) > 50
    assert [path for path in wanted if not path.is_file()] == []


def test_every_script_is_used():
    used = {other for path in SCRIPTS for other in imported(path)}
    assert [path.name for path in SCRIPTS if path.resolve() not in used] == ["main.js"]


def test_nothing_comes_from_elsewhere_and_nothing_is_inline():
    assert {
        path.name: outside(path.read_text(encoding="utf-8"))
        for path in OWN
        if outside(path.read_text("utf-8"))
    } == {}
    assert inline((PAGE / "index.html").read_text(encoding="utf-8")) == []


def test_no_script_builds_markup_or_code_from_text():
    """What comes from files and from the server is text, and stays text."""
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setAttribute\(\"style"
    )
    assert [path.name for path in SCRIPTS if forbidden.search(path.read_text(encoding="utf-8"))] == []


def test_files_stay_small():
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in OWN}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}


def test_the_vendored_module_has_its_licences():
    licences = (PAGE / "vendor" / "LICENSES.txt").read_text(encoding="utf-8")
    for name in ("regl-scatterplot 1.16.0", "@plotly/regl 2.1.2", "earcut", "gl-matrix", "KDBush"):
        assert name in licences


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('src="https://cdn.example.org/a.js"', 1),
        ("//cdn.example.org/a", 1),
        ("http://www.w3.org/2000/svg", 0),
        ("// a comment", 0),
    ],
)
def test_an_address_elsewhere_is_found(text, count):
    assert len(outside(text)) == count


@pytest.mark.parametrize("text", ["<script>1</script>", "<style>", '<p onclick="x()">', '<p style="a">'])
def test_what_is_inline_is_found(text):
    assert inline(text)
    assert inline('<script type="module" src="/page/js/main.js"></script>') == []

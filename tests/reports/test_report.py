"""The report as a whole: written, complete, of one piece, the same every time."""

import re

import pytest
import torch

from samekind.reports import System, write_report
from samekind.reports.page import Section


def headings(html):
    return re.findall(r"<h2>(.*?)</h2>", html)


@pytest.fixture
def report(tmp_path):
    """From systems and items to the text of their report."""

    def written(systems, seen, unseen=None):
        path = tmp_path / "folder" / "report.html"
        write_report(path, title="A <title>", lead="A lead.", systems=systems, seen=seen, unseen=unseen)
        assert [value.name for value in path.parent.iterdir()] == ["report.html"]
        return path.read_text(encoding="utf-8")

    return written


@pytest.fixture
def few(vectors):
    """Four items of each of two classes."""
    return vectors.only(["0", "1"]).take(torch.tensor([0, 1, 2, 3, 8, 9, 10, 11]))


def test_pictures_with_a_record_have_every_section(report, images, space_for, rows, record):
    html = report({"mine": System(space_for(images), rows, record)}, images, images.only(["<b>light"]))
    assert headings(html) == [
        "Answers",
        "What the thresholds promised",
        "Training",
        "Scores of same and different pairs",
        "Error trade-off",
        "Map of the items",
        "Most alike",
        "Confusions",
    ]
    assert "A &lt;title&gt;" in html
    # A class may be called anything; it is text wherever it is written.
    assert "<b>light" not in html
    assert "&lt;b&gt;light" in html
    # Nothing is loaded from elsewhere.
    addresses = re.findall(r'(?:src|href)\s*=\s*"([^"]*)', html) + re.findall(r"url\(([^)]*)\)", html)
    assert any(address.startswith("data:image/png") for address in addresses)
    assert all(address.startswith(("#", "data:")) for address in addresses)
    assert not re.search("https?://", html)


def test_vectors_without_a_record_leave_out_what_they_cannot_show(report, few, space_for):
    systems = {"mine": System(space_for(few), [])}
    html = report(systems, few)
    assert headings(html) == [
        "Answers",
        "What the thresholds promised",
        "Scores of same and different pairs",
        "Error trade-off",
        "Map of the items",
        "Confusions",
    ]
    # No classes held back, and classes held back of which there are no items, are the same.
    nothing = few.take(torch.empty(0, dtype=torch.int64))
    assert report(systems, few, nothing).splitlines() == html.splitlines()


def test_one_class_alone_has_no_tradeoff(report, few, space_for):
    html = report({"mine": System(space_for(few), [])}, few.only(["0"]))
    assert "Error trade-off" not in headings(html)
    assert "What the thresholds promised" not in headings(html)


def test_items_without_a_mistake_can_be_reported(report, few, space_for):
    few.inputs[few.labels == 1] += 100
    html = report({"mine": System(space_for(few), [])}, few)
    assert "similarity, EER 0.00 %" in html
    assert "0 of 8 are wrong" in html


def test_refuses_no_system(report, few):
    with pytest.raises(ValueError, match="at least one system"):
        report({}, few)


def test_after_an_opening_everything_is_folded(tmp_path, few, space_for):
    path = tmp_path / "report.html"
    systems = {"mine": System(space_for(few), [])}
    opening = [Section("First", "words"), None]
    write_report(path, title="", lead="", systems=systems, seen=few, unseen=None, opening=opening)
    html = path.read_text(encoding="utf-8")
    assert headings(html)[0] == "First"
    assert html.count("<section><details>") == len(headings(html)) - 1 > 0

"""The report as a whole: written, complete, of one piece, the same every time."""

import re
from html.parser import HTMLParser

import pytest
import torch

from samekind.evaluation import evaluate
from samekind.reports import System, write_report


def headings(html):
    return re.findall(r"<h2>(.*?)</h2>", html)


@pytest.fixture
def report(tmp_path):
    """From systems and items to the text of their report."""

    def written(systems, seen, unseen=None):
        path = tmp_path / "folder" / "report.html"
        write_report(path, title="A <title>", lead="A lead.", systems=systems, seen=seen, unseen=unseen)
        assert [each.name for each in path.parent.iterdir()] == ["report.html"]
        return path.read_text(encoding="utf-8")

    return written


def test_pictures_with_a_record_have_every_section(report, images, space_for, record):
    space = space_for(images)
    systems = {"mine": System(space, evaluate(space, {"seen": images}, tasks=2), record)}
    html = report(systems, images, images.only(["<b>light"]))
    assert headings(html) == [
        "Answers",
        "Training",
        "Scores of same and different pairs",
        "Error trade-off",
        "Map of the items",
        "Most alike",
        "Confusions",
    ]
    assert "<b>light" not in html and "&lt;b&gt;light" in html
    assert "A &lt;title&gt;" in html


def test_it_loads_nothing_from_elsewhere(report, images, space_for, record):
    html = report({"mine": System(space_for(images), [], record)}, images)
    addresses = re.findall(r'(?:src|href)\s*=\s*"([^"]*)', html) + re.findall(r"url\(([^)]*)\)", html)
    assert any(address.startswith("data:image/png") for address in addresses)
    assert all(address.startswith(("#", "data:")) for address in addresses)
    assert "http://" not in html and "https://" not in html
    HTMLParser().feed(html)


def test_vectors_without_a_record_leave_out_what_they_cannot_show(report, vectors, space_for):
    html = report({"mine": System(space_for(vectors), [])}, vectors)
    assert headings(html) == [
        "Answers",
        "Scores of same and different pairs",
        "Error trade-off",
        "Map of the items",
        "Confusions",
    ]


def test_one_class_alone_has_no_tradeoff(report, vectors, space_for):
    assert "Error trade-off" not in headings(
        report({"mine": System(space_for(vectors), [])}, vectors.only(["0"]))
    )


def test_items_without_a_mistake_can_be_reported(report, vectors, space_for):
    apart = vectors.only(["0", "1"])
    apart.inputs[apart.labels == 1] += 100
    html = report({"mine": System(space_for(apart), [])}, apart)
    assert "similarity, EER 0.00 %" in html
    assert "0 of 16 are wrong" in html


def test_unseen_classes_without_items_are_no_set(report, vectors, space_for):
    nothing = vectors.take(torch.empty(0, dtype=torch.int64))
    html = report({"mine": System(space_for(vectors), [])}, vectors, nothing)
    assert "Unseen" not in html


def test_the_same_input_gives_the_same_file(report, images, space_for, record):
    systems = {"mine": System(space_for(images), [], record)}
    assert report(systems, images) == report(systems, images)


def test_no_system_is_refused(report, vectors):
    with pytest.raises(ValueError, match="at least one system"):
        report({}, vectors)

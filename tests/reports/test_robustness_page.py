"""The page about robustness."""

import pytest
import torch

from samekind.evaluation.robustness_curve import Robustness, Samples, curve_of
from samekind.evaluation.soundness import Check, Soundness
from samekind.evaluation.under_attack import Strength
from samekind.measures.intervals import Interval
from samekind.reports.robustness_page import visible_change, write_robustness_page

POINTS = [Interval(0.9, 0.8, 1.0), Interval(0.5, 0.4, 0.6)]


def result(*, passed=True, shape=(1, 8, 8)):
    checks = (Check("more steps", True, "right: <all>"), Check("transfer", passed, "right: none"))
    measures = {
        "class": "adversarial accuracy",
        "pair": "adversarial EER",
        "enrolment": "attack success on enrolment",
    }
    curves = [
        curve_of((question, measure, "similarity"), (0.1,), POINTS, 0, Soundness(checks), items="test")
        for question, measure in measures.items()
    ]
    cells = ("class", "Voronoi adversarial accuracy", "similarity")
    curves.append(curve_of(cells, (0.1, torch.inf), [*POINTS, POINTS[1]], 0, Soundness(checks), items="test"))
    samples = Samples(torch.rand(2, *shape), torch.rand(2, *shape), 0.1, ["1", "2"], ["1", "2"], ["7", "2"])
    return Robustness(
        20, "linf", "in the range of a pixel, 0 to 1", Strength((0.1,)), tuple(curves), (0.8, 0.3), samples
    )


@pytest.fixture
def page(tmp_path):
    def write(robustness):
        write_robustness_page(tmp_path / "page.html", robustness, title="A & B")
        return (tmp_path / "page.html").read_text(encoding="utf-8")

    return write


def test_it_has_curves_pictures_checks_and_numbers(page):
    text = page(result())
    for title in ("In short", "Over epsilon", "Attacked pictures", "Were the attacks sound?", "All numbers"):
        assert f"<h2>{title}</h2>" in text
    assert "A &amp; B" in text
    assert "right: &lt;all&gt;" in text
    assert "All attacks passed their checks." in text
    assert text.count("data:image/png") == 6
    assert text.count("<svg") == 4
    assert "no limit" in text
    short = text[text.index("<h2>In short") : text.index("<h2>Over epsilon")]
    assert short.count("<td>global robustness</td>") == 1  # of the curve in cells alone
    assert "http" not in text.replace("http://www.w3.org", "")


def test_a_failed_check_stands_beside_the_number(page):
    text = page(result(passed=False))
    assert "4 of 4 curves failed a check" in text
    assert "<b>not a measure of robustness (transfer)</b>" in text
    assert "<b>FAILED</b>" in text


def test_vectors_have_no_pictures(page):
    assert "Attacked pictures" not in page(result(shape=(5,)))


def test_small_changes_are_made_visible():
    clean = torch.zeros(1, 2, 2)
    shown = visible_change(clean, torch.tensor([[[0.01, -0.01], [0.005, 0.0]]]))
    assert shown.flatten().tolist() == pytest.approx([1, 0, 0.75, 0.5])
    assert (visible_change(clean, clean) == 0.5).all()

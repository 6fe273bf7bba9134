"""samekind robustness: a page, a short table, JSON."""

import json
import math

from samekind import questions
from samekind.evaluation.robustness_curve import Robustness, curve_of
from samekind.evaluation.soundness import Check, Soundness
from samekind.evaluation.under_attack import Strength
from samekind.measures.intervals import Interval
from samekind.questions.robustness import Withstood


def test_a_page_and_a_table(samekind, trained, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")  # no cell is broken
    page = tmp_path / "page.html"
    answer = samekind(
        "robustness", trained, "--to", page, "--eps", "8/255,32/255", "--steps", 3, "--limit", 16,
        "--ask", "class,neighbour",
    )  # fmt: skip
    assert answer.status == 0, answer.err
    assert "attacks on 16 items take about " in answer.err
    assert "attacking: class, similarity in Voronoi cells" in answer.err
    assert "Recall@1" in answer.out
    assert answer.out.count("global robustness") == 3  # a line for each head that was attacked in cells
    assert f"The page is in {page}" in answer.out
    assert "Were the attacks sound?" in page.read_text(encoding="utf-8")


def test_what_an_unsound_attack_gives_is_no_measure(samekind, trained, tmp_path, monkeypatch):
    failed = Soundness((Check("transfer", False, "right: none"),))
    points = [Interval(0.9, 0.8, 1.0), Interval(0.5, 0.4, 0.6), Interval(0.1, 0.0, 0.2)]
    about = ("class", "Voronoi adversarial accuracy", "similarity")
    curve = curve_of(about, (0.1, math.inf), points, 0, failed, items="test")
    measured = Robustness(20, "linf", "of a pixel", Strength((0.1,)), (curve,), (0.8, 0.3))
    monkeypatch.setattr(questions, "robustness", lambda *_, **__: Withstood("digits", measured))
    answer = samekind("robustness", trained, "--to", tmp_path / "page.html")
    assert answer.out.count("not a measure of robustness") == 2  # beside both numbers, the last without limit
    assert "Voronoi adversarial accuracy): not a measure of robustness (transfer)" in answer.err


def test_json(samekind, trained, tmp_path):
    answer = samekind(
        "robustness", trained, "--to", tmp_path / "page.html", "--eps", "0.1", "--steps", 3, "--limit", 10,
        "--ask", "class", "--no-cells", "--json",
    )  # fmt: skip
    assert answer.status == 0, answer.err
    content = json.loads(answer.out)
    assert [curve["kind"] for curve in content["curves"]] == ["similarity", "auxiliary", "fused"]
    assert content["page"].endswith("page.html")


def test_an_unknown_question_is_named(samekind, trained):
    answer = samekind("robustness", trained, "--ask", "classes")
    assert answer.status == 2
    assert '--ask: there is no "classes"' in answer.err

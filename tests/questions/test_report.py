"""The page about a run: what it is given."""

from types import SimpleNamespace

from samekind.decisions import Choices, Ladder, Rung
from samekind.questions import report
from samekind.questions.evaluate import Evaluated


def test_the_page_is_about_the_test_items(plane, monkeypatch, tmp_path):
    pages = []
    monkeypatch.setattr(report, "write_report", lambda path, **content: pages.append((path, content)))
    monkeypatch.setattr(report, "cautions", lambda _: ["copies"])
    sets = SimpleNamespace(test="seen items", unseen="unseen items")
    answer = Evaluated("first", (), (), ())
    report.write_run_report(tmp_path / "page.html", plane, sets, answer, [{"epoch": 1}])
    [(path, content)] = pages
    assert path == tmp_path / "page.html"
    assert (content["title"], content["seen"], content["unseen"]) == (
        "samekind: first",
        "seen items",
        "unseen items",
    )
    assert content["lead"].endswith("on items it was not trained on. Careful: copies.")
    assert content["systems"]["first"].record == [{"epoch": 1}]


def test_the_page_opens_with_the_kinds_of_score_and_the_ladder(plane, monkeypatch, tmp_path):
    leads = []
    monkeypatch.setattr(report, "write_report", lambda _path, **content: leads.append(content["lead"]))
    monkeypatch.setattr(report, "cautions", lambda _: [])
    plane.choices = Choices("cosine", "similarity", "similarity", "2 folds")
    plane.ladder = Ladder((Rung("raw input", 0.5, 0.2, "cosine", "cosine", 1.0),), "raw input", "2 folds")
    sets = SimpleNamespace(test="seen items", unseen=None)
    report.write_run_report(tmp_path / "page.html", plane, sets, Evaluated("first", (), (), ()), [])
    assert leads[0].endswith(
        "Pairs are compared by the cosine, chosen on 2 folds. The house recipe kept this rung of its ladder: "
        "raw input."
    )

"""The page about a run: what it is given."""

from types import SimpleNamespace

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

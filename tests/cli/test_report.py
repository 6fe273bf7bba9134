"""samekind report: the page of a run, again and the same."""

import json

import pytest

from samekind.evaluation import Row


@pytest.fixture(scope="module")
def written(samekind, trained, tmp_path_factory):
    out = tmp_path_factory.mktemp("report") / "new" / "page.html"
    answer = samekind("report", trained, "--out", out, "--tasks", "2", "--json")
    assert (answer.status, answer.err) == (0, "")
    reported = json.loads(answer.out)
    assert list(reported["warnings"]) == [trained.name]
    assert reported.keys() == {"folder", "report", "gains", "warnings"}
    assert (reported["folder"], reported["report"]) == (str(trained), str(out))
    return out


def test_it_is_a_page_about_the_run(written, trained):
    page = written.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert f"samekind: {trained.name}" in page
    assert "Which class is it?" in page
    assert "How good is it without training?" in page


@pytest.mark.slow
def test_it_is_the_page_evaluate_writes(written, samekind, trained, tmp_path):
    assert samekind("evaluate", trained, "--tasks", "2", "--report", tmp_path / "page.html").status == 0
    assert (tmp_path / "page.html").read_bytes() == written.read_bytes()


def test_by_default_its_place_is_in_the_run(samekind, trained, monkeypatch):
    places = []
    monkeypatch.setattr("samekind.evaluation.evaluate", lambda *_, **__: [])
    monkeypatch.setattr("samekind.questions.report.write_report", lambda path, **_: places.append(path))
    answer = samekind("report", trained, "--tasks", "2", "--no-references")
    assert (answer.out, places) == (
        f"The report is in {trained / 'report.html'}\n",
        [trained / "report.html"],
    )


def test_what_is_noted_of_a_value_is_on_the_page(samekind, trained, monkeypatch):
    """As of one that is of a part of the pairs."""
    row, pages = Row("verification", "seen", "Cllr", "cosine", 0.5, note="of 10 pairs"), []
    monkeypatch.setattr("samekind.evaluation.evaluate", lambda *_, **__: [row])
    monkeypatch.setattr("samekind.questions.report.write_report", lambda _, **content: pages.append(content))
    assert samekind("report", trained, "--no-references").status == 0
    assert pages[0]["systems"]["trained"].rows == (row,)


def test_it_says_first_that_the_raw_inputs_are_not_beaten(samekind, trained, monkeypatch):
    own, pages = Row("classification", "seen", "accuracy", "similarity", 0.2, 0.1, 0.3), []
    monkeypatch.setattr("samekind.evaluation.evaluate", lambda *_, **__: [own])
    monkeypatch.setattr("samekind.evaluation.missing_shots", lambda *_: [])  # there is this one row
    monkeypatch.setattr("samekind.questions.report.write_report", lambda _, **content: pages.append(content))
    answer = samekind("report", trained)
    assert [row.question for row in pages[0]["systems"]["trained"].rows][1:] == ["reference"] * 4
    first, second, last = answer.out.splitlines()
    assert first == "It does not beat its start, the raw input, in 1 of 1 measures."
    assert second.startswith("  accuracy, seen: 20.00% by similarity does not beat ")
    assert last.startswith("The report is in ")
    silent = samekind("report", trained, "--no-references")
    assert (silent.status, silent.err, len(silent.out.splitlines())) == (0, "", 1)


def test_a_folder_without_a_run_is_reported(samekind, tmp_path):
    answer = samekind("report", tmp_path)
    assert (answer.status, answer.out) == (2, "")
    assert "is not the folder of a finished run" in answer.err

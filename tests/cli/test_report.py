"""samekind report: the page of a run, again and the same."""

import json

import pytest

from samekind.evaluation import Row


@pytest.fixture(scope="module")
def written(samekind, trained, tmp_path_factory):
    out = tmp_path_factory.mktemp("report") / "new" / "page.html"
    answer = samekind("report", trained, "--out", out, "--tasks", "2", "--json")
    assert (answer.status, answer.err) == (0, "")
    told = json.loads(answer.out)
    assert list(told["warnings"]) == [trained.name]
    assert told == {"folder": str(trained), "report": str(out), "warnings": told["warnings"]}
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


def test_its_place_is_in_the_run_unless_told_otherwise(samekind, trained, monkeypatch):
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


def test_it_warns_of_what_does_not_beat_the_raw_inputs(samekind, trained, monkeypatch):
    own, pages = Row("classification", "seen", "accuracy", "similarity", 0.2, 0.1, 0.3), []
    monkeypatch.setattr("samekind.evaluation.evaluate", lambda *_, **__: [own])
    monkeypatch.setattr("samekind.questions.report.write_report", lambda _, **content: pages.append(content))
    answer = samekind("report", trained)
    assert [row.question for row in pages[0]["systems"]["trained"].rows][1:] == ["reference"] * 4
    [warning] = [line for line in answer.err.splitlines() if "nearest raw input" in line]
    assert warning.startswith("careful (trained): accuracy, seen: 20.00% by similarity does not beat")
    silent = samekind("report", trained, "--no-references")
    assert (silent.status, silent.err) == (0, "")


def test_a_folder_without_a_run_is_told(samekind, tmp_path):
    answer = samekind("report", tmp_path)
    assert (answer.status, answer.out) == (2, "")
    assert "is not the folder of a finished run" in answer.err

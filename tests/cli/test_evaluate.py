"""samekind evaluate: the same numbers as from Python, as a table, as JSON and on a page."""

import json

import pytest

from samekind import evaluation, reports
from samekind.cli.experiments import sets_of
from samekind.cli.output import format_row
from samekind.evaluation import Row
from samekind.space import MetricSpace

TASKS = ("--tasks", "5")


@pytest.fixture(scope="module")
def rows(trained):
    """What Python says."""
    space = MetricSpace.load(trained / "space")
    return evaluation.evaluate(space, sets_of(trained).tests(), tasks=5, seed=0)


def test_json_has_every_row(samekind, trained, rows):
    answer = samekind("evaluate", trained, *TASKS, "--json")
    assert (answer.status, answer.err) == (0, "")
    told = json.loads(answer.out)
    assert told.keys() == {"folder", "systems"}
    assert told["folder"] == str(trained)
    assert list(told["systems"]) == ["trained"]
    assert [Row(**row) for row in told["systems"]["trained"]] == rows
    assert {row.items for row in rows} == {"seen", "unseen"}


def test_the_tables_have_every_number(samekind, trained, rows):
    answer = samekind("evaluate", trained, *TASKS)
    assert answer.status == 0
    lines = [line.split() for line in answer.out.splitlines()]
    for row in rows:
        written = f"{row.measure} {row.items}".split()
        found = [line for line in lines if line[: len(written)] == written]
        assert found, row
        assert any(" ".join(format_row(row).split()) in " ".join(line) for line in found), row
    for question in {row.question for row in rows}:
        assert [question.capitalize()] in lines


def test_another_seed_draws_other_tasks_and_changes_nothing_else(samekind, trained, rows):
    answer = samekind("evaluate", trained, *TASKS, "--seed", "1", "--json")
    told = [Row(**row) for row in json.loads(answer.out)["systems"]["trained"]]
    drawn = ("few-shot", "clustering")
    assert [row for row in told if row.question not in drawn] == [
        row for row in rows if row.question not in drawn
    ]
    assert [row for row in told if row.question == "few-shot"] != [
        row for row in rows if row.question == "few-shot"
    ]


def test_a_run_is_named_after_its_folder_wherever_one_stands(samekind, trained, monkeypatch):
    monkeypatch.chdir(trained)
    told = json.loads(samekind("evaluate", ".", *TASKS, "--json").out)
    assert told["folder"] == "."
    assert list(told["systems"]) == ["trained"]


def test_the_report_is_about_this_run(samekind, trained, rows, tmp_path, monkeypatch):
    """Only what it is given: drawing the page takes seconds, and the demo's tests draw it."""
    asked = []
    monkeypatch.setattr(reports, "write_report", lambda path, **content: asked.append((path, content)))
    answer = samekind("evaluate", trained, *TASKS, "--report", tmp_path / "report.html")
    assert answer.status == 0
    assert answer.out.endswith(f"The report is in {tmp_path / 'report.html'}\n")
    [(path, content)] = asked
    assert path == tmp_path / "report.html"
    assert content["title"] == "samekind: trained"
    assert list(content["systems"]) == ["trained"]
    system, sets = content["systems"]["trained"], sets_of(trained)
    assert system.rows == rows
    assert [entry["epoch"] for entry in system.record] == [1, 2]
    assert content["seen"].fingerprint() == sets.test.fingerprint()
    assert content["unseen"].fingerprint() == sets.unseen.fingerprint()

"""A space opened from a folder, evaluated; the tests of the command evaluate show runs."""

import numpy
import pytest
import torch

from samekind.questions import evaluate_opened
from samekind.questions.evaluate import EvaluationSettings
from samekind.questions.evaluate_opened import (
    CohortSource,
    TrialFiles,
    evaluate_data,
    evaluate_list,
    read_cohort,
    write_answers,
)
from samekind.questions.opening import OpenSpace


@pytest.fixture
def opened(plane, tmp_path):
    return OpenSpace(plane, tmp_path / "mine")


def test_a_cohort_is_read_and_embedded(opened, tmp_path):
    numpy.save(tmp_path / "point.npy", numpy.array([0, 1], dtype=numpy.float32))
    cohort = read_cohort(opened, CohortSource(str(tmp_path / "point.npy"), "s", 3))
    torch.testing.assert_close(cohort.z, torch.tensor([[0.0, 1.0]]))
    assert cohort[1:] == ("s", 3)
    assert read_cohort(opened, None) is None


def test_the_cohort_may_be_the_evaluated_items(opened, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert read_cohort(opened, CohortSource("gallery")) == (None, "mean", None)
    assert read_cohort(opened, CohortSource("gallery", "as", 5)) == (None, "as", 5)


@pytest.mark.parametrize(("seen", "note"), [((), ""), (("here",), "training items among them")])
def test_rows_say_that_the_space_was_trained_on_the_items(opened, items_at, monkeypatch, seen, note):
    calls = []
    items = items_at([0, 90], ["right", "up"])
    monkeypatch.setattr(OpenSpace, "trained_on", lambda _, sources: seen if sources == ["here"] else None)
    monkeypatch.setattr(OpenSpace, "read_labelled", lambda _, data, **how: {"here": items}[data])
    monkeypatch.setattr(evaluate_opened, "evaluate_items", lambda *_, **how: calls.append(how))
    evaluate_data(opened, "here", EvaluationSettings())
    assert calls == [{"name": "mine", "note": note, "cohort": None}]


def test_a_list_of_trials_is_named_after_its_file(opened, tmp_path):
    for name, point in {"a": [1, 0], "b": [0.9, 0.1], "c": [0, 1]}.items():
        numpy.save(tmp_path / f"{name}.npy", numpy.array(point, dtype=numpy.float32))
    (tmp_path / "voices.txt").write_text("1 a.npy b.npy\n0 a.npy c.npy\n0 b.npy c.npy\n")
    answer = evaluate_list(opened, TrialFiles(tmp_path / "voices.txt"), EvaluationSettings())
    assert {row.items for row in answer.rows} == {"voices"}
    assert answer.name == "mine"


def test_answers_for_programs_are_written_whole(tmp_path):
    write_answers(tmp_path / "new" / "a.json", {"a": 1})
    assert (tmp_path / "new" / "a.json").read_text() == '{\n  "a": 1\n}\n'

"""A space opened from a folder, evaluated; the tests of the command evaluate show runs."""

import numpy
import pytest
import torch

from samekind.questions import evaluate_opened
from samekind.questions.evaluate import EvaluationSettings
from samekind.questions.evaluate_opened import CohortSource, evaluate_data, read_cohort
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
    monkeypatch.setattr(OpenSpace, "trained_on", lambda _, sources: seen if sources == ["here"] else None)
    monkeypatch.setattr(evaluate_opened, "evaluate_items", lambda *_, **how: calls.append(how))
    items = items_at([0, 90], ["right", "up"])
    evaluate_data(opened, items, EvaluationSettings(), source="here")
    assert calls == [{"name": "mine", "note": note, "cohort": None}]

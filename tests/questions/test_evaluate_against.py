"""Two spaces on the same test items."""

import pytest
import torch

from samekind import evaluation
from samekind.data import Sets, SplitSettings, prepare
from samekind.errors import DataError
from samekind.questions.evaluate import EvaluationSettings
from samekind.questions.evaluate_against import evaluate_against

SETTINGS = EvaluationSettings(tasks=2, way=2, shots=(1,), ranks=(1,))


@pytest.fixture
def sets(items_at):
    def make(seed) -> Sets:
        degrees = torch.arange(0, 120, 3).tolist()
        labels = ["right" if angle < 60 else "up" for angle in degrees]
        return prepare(items_at(degrees, labels), SplitSettings(seed=seed))

    return make


def test_the_first_less_the_second(plane, sets):
    both = sets(0), sets(0)
    answer = evaluate_against((plane, plane), both, SETTINGS, names=("one", "two"))
    expected = evaluation.against(plane, plane, both[0].tests(), tasks=2, way=2, shots=(1,), ranks=(1,))
    assert answer.to_json() == {
        "differences": [row._asdict() for row in expected],
        "warnings": answer.warnings,
    }
    assert {row.difference for row in answer.rows} == {0}


def test_refuses_other_items(plane, sets):
    with pytest.raises(DataError, match="one and two were not tested on the same items"):
        evaluate_against((plane, plane), (sets(0), sets(1)), SETTINGS, names=("one", "two"))

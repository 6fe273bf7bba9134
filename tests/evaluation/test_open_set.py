"""Open set: who is identified while few strangers pass, against a loop over thresholds."""

import doctest
import importlib

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from torch import nn

from samekind.data import clusters
from samekind.decisions import Decision
from samekind.evaluation import identification, open_set
from samekind.evaluation.open_set import best_class_scores
from samekind.prototypes import SupportMeans
from samekind.similarities import Euclidean
from samekind.space import MetricSpace

pytestmark = pytest.mark.usefixtures("few_draws")

EVERY = clusters(classes=6, items=20, dimension=3, spread=0.8)
KNOWN, UNKNOWN = EVERY.only(["0", "1", "2", "3"]), EVERY.only(["4", "5"])


def a_space(classes=("2", "0", "3", "1")):
    known = SupportMeans(dimension=3)
    means = [EVERY.inputs[EVERY.labels == int(name)].mean(0) for name in classes]
    known.assign(list(classes), torch.stack(means)[:, None])
    return MetricSpace(nn.Identity(), Euclidean(), known).eval()


def rate_by_hand(known, right, unknown, false_alarms):
    """The most identified at any threshold that lets few enough strangers pass."""
    best = 0.0
    for threshold in [*known, *unknown, float("inf")]:
        alarms = sum(score >= threshold for score in unknown) / len(unknown)
        if alarms <= false_alarms + 1e-12:
            hits = sum(ok and score >= threshold for score, ok in zip(known, right, strict=True))
            best = max(best, hits / len(known))
    return best


scores = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=12)


@given(scores, scores, st.sampled_from([0.0, 0.01, 0.1, 0.25, 0.5, 1.0]), st.randoms(use_true_random=False))
def test_agrees_with_a_loop_over_thresholds_also_with_ties(known, unknown, false_alarms, random):
    right = [random.random() < 0.7 for _ in known]
    result = identification(
        torch.tensor(known), torch.tensor(right), torch.tensor(unknown), false_alarms=false_alarms
    )
    assert result.rate == pytest.approx(rate_by_hand(known, right, unknown, false_alarms))
    truth = [1] * len(known) + [0] * len(unknown)
    assert result.area == pytest.approx(roc_auc_score(truth, known + unknown))


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_refuses_an_invalid_rate(rate):
    with pytest.raises(ValueError, match="from 0 to 1"):
        identification(torch.ones(1), torch.ones(1).bool(), torch.ones(1), false_alarms=rate)


def test_the_rows_of_a_space():
    space = a_space()
    rows = open_set(
        space, KNOWN, KNOWN.inputs, UNKNOWN, UNKNOWN.inputs, name="both", false_alarms=0.1, seed=1
    )
    assert [row[:4] for row in rows] == [
        ("open set", "both", "DIR at 10% FAR", "similarity"),
        ("open set", "both", "AUROC", "similarity"),
    ]
    names = space.classify(KNOWN.inputs).classes
    right = [name == KNOWN.classes[label] for name, label in zip(names, KNOWN.labels.tolist(), strict=True)]
    inside, outside = (space.score_classes(value.inputs).amax(1) for value in (KNOWN, UNKNOWN))
    assert rows[0].value == pytest.approx(rate_by_hand(inside.tolist(), right, outside.tolist(), 0.1))
    for row in rows:
        assert 0 <= row.low < row.value < row.high <= 1
        assert row.unit == "items"


def test_a_stored_threshold_is_measured_too():
    space = a_space()
    space.open_set = Decision("similarity", -0.5, "eer", "others", 0.1, 0.1)
    rows = open_set(space, KNOWN, KNOWN.inputs, UNKNOWN, UNKNOWN.inputs, name="both")
    result = {row.measure: row.value for row in rows}
    inside, outside = best_class_scores(space, KNOWN.inputs), best_class_scores(space, UNKNOWN.inputs)
    names = space.classify(KNOWN.inputs).classes
    hits = [
        name == KNOWN.classes[label] and score >= -0.5
        for name, label, score in zip(names, KNOWN.labels.tolist(), inside.tolist(), strict=True)
    ]
    assert result["DIR at threshold"] == pytest.approx(sum(hits) / len(hits))
    assert result["false alarms at threshold"] == pytest.approx(float((outside >= -0.5).float().mean()))


def test_a_threshold_of_another_kind_of_score_is_measured_on_that_score():
    space = a_space()
    space.open_set = Decision("cosine", 0.9, "eer", "others", 0.1, 0.1)
    rows = open_set(space, KNOWN, KNOWN.inputs, UNKNOWN, UNKNOWN.inputs, name="both")
    result = {(row.measure, row.kind): row.value for row in rows}
    names = space.classify(KNOWN.inputs).classes
    inside, outside = (space.score_classes(value.inputs, kind="cosine").amax(1) for value in (KNOWN, UNKNOWN))
    hits = [
        name == KNOWN.classes[label] and score >= 0.9
        for name, label, score in zip(names, KNOWN.labels.tolist(), inside.tolist(), strict=True)
    ]
    assert result["DIR at threshold", "cosine"] == pytest.approx(sum(hits) / len(hits))
    passed = sum(score >= 0.9 for score in outside.tolist())
    assert result["false alarms at threshold", "cosine"] == pytest.approx(passed / len(outside))
    assert ("DIR at threshold", "similarity") not in result


def test_no_row_if_unknown_classes_are_known_or_known_ones_are_not():
    both = (KNOWN, KNOWN.inputs, UNKNOWN, UNKNOWN.inputs)
    assert open_set(a_space(("0", "1", "2", "3", "4")), *both, name="x") == []
    assert open_set(a_space(("0", "1")), *both, name="x") == []
    nobody = UNKNOWN.take(torch.empty(0, dtype=torch.int64))
    assert open_set(a_space(), KNOWN, KNOWN.inputs, nobody, nobody.inputs, name="x") == []


def test_doctests():
    module = importlib.import_module("samekind.evaluation.open_set")
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(("known", "right", "unknown"), [(0, 0, 3), (3, 3, 0), (3, 2, 3)])
def test_refuses_scores_of_one_kind(known, right, unknown):
    with pytest.raises(ValueError, match="expected scores of known and of unknown items"):
        identification(
            torch.ones(known), torch.ones(right, dtype=torch.bool), torch.ones(unknown), false_alarms=0.1
        )

"""Verification of all pairs against counts over itertools' pairs."""

import dataclasses
import inspect
import itertools

import pytest
import torch
from sklearn.metrics import roc_auc_score
from torch import nn

from samekind import similarities
from samekind.data import clusters
from samekind.decisions import Decision
from samekind.evaluation import verification
from samekind.prototypes import SupportMeans
from samekind.space import MetricSpace

pytestmark = pytest.mark.usefixtures("few_draws")

ITEMS = clusters(classes=4, items=4, dimension=3, spread=0.8)
PAIRS = list(itertools.combinations(range(len(ITEMS)), 2))
SAME = [bool(ITEMS.labels[i] == ITEMS.labels[j]) for i, j in PAIRS]


def a_space(name):
    torch.manual_seed(0)
    kind = getattr(similarities, name)
    takes = inspect.signature(kind).parameters
    needed = {"dimension": 3} if "dimension" in takes else {}
    similarity = kind(**needed)
    return MetricSpace(nn.Identity(), similarity, SupportMeans(dimension=3)).eval()


@torch.no_grad()
def scores_by_hand(space, kind):
    """The earlier item first."""
    return [float(space.score(ITEMS.inputs[i][None], ITEMS.inputs[j][None], kind=kind)) for i, j in PAIRS]


def equal_error_by_hand(scores):
    """The mean of both rates at the score where they are nearest, the stricter of two as near."""
    nearest = None
    for threshold in sorted(set(scores), reverse=True):
        accepts = sum(s >= threshold for s, same in zip(scores, SAME, strict=True) if not same) / SAME.count(
            False
        )
        rejects = sum(s < threshold for s, same in zip(scores, SAME, strict=True) if same) / SAME.count(True)
        gap = abs(accepts - rejects)
        if nearest is None or gap < nearest[0] - 1e-12:
            nearest = gap, (accepts + rejects) / 2
    return nearest[1]


def area_by_hand(scores):
    return roc_auc_score(SAME, scores)


def cost_by_hand(scores):
    """The least cost at a prior of 0.01, what saying nothing costs being 1."""
    costs = [1.0]
    for threshold in scores:
        accepts = sum(s >= threshold for s, same in zip(scores, SAME, strict=True) if not same)
        rejects = sum(s < threshold for s, same in zip(scores, SAME, strict=True) if same)
        costs.append(rejects / SAME.count(True) + 99 * accepts / SAME.count(False))
    return min(costs)


@pytest.mark.parametrize("name", similarities.SIMILARITIES)
def test_agrees_with_a_count_for_each_kind_of_score(name):
    space = a_space(name)
    rows = verification(space, ITEMS, ITEMS.inputs, name="unseen")
    assert [(row.measure, row.kind) for row in rows] == [
        (measure, kind) for kind in space.kinds for measure in ("EER", "AUC", "minDCF at 1%")
    ]
    by_hand = {"EER": equal_error_by_hand, "AUC": area_by_hand, "minDCF at 1%": cost_by_hand}
    for row in rows:
        expected = by_hand[row.measure](scores_by_hand(space, row.kind))
        assert row[:2] == ("verification", "unseen")
        assert row.value == pytest.approx(expected)


def test_a_kind_with_a_decision_has_its_accuracy():
    space = a_space("Euclidean")
    scores = scores_by_hand(space, "cosine")
    threshold = sorted(scores)[len(scores) // 2]
    space.decisions["cosine"] = Decision("cosine", threshold - 1e-6, "eer", "others", 0.0, 0.0)
    rows = verification(space, ITEMS, ITEMS.inputs, name="seen")
    assert [(row.measure, row.kind) for row in rows if "threshold" in row.measure] == [
        ("accuracy at threshold", "cosine")
    ]
    right = sum((score >= threshold) == same for score, same in zip(scores, SAME, strict=True))
    assert rows[-1].value == pytest.approx(right / len(PAIRS))


def test_intervals_are_over_classes_and_fixed_by_the_seed():
    rows = verification(a_space("Euclidean"), ITEMS, ITEMS.inputs, name="seen", seed=1)
    assert rows == verification(a_space("Euclidean"), ITEMS, ITEMS.inputs, name="seen", seed=1)
    assert rows != verification(a_space("Euclidean"), ITEMS, ITEMS.inputs, name="seen", seed=2)
    assert all(row.low <= row.value <= row.high and row.unit == "classes" for row in rows)


def test_two_classes_are_too_few_for_an_interval():
    rows = verification(a_space("Euclidean"), ITEMS.only(["0", "1"]), ITEMS.inputs[:8], name="seen")
    assert len(rows) == 6
    assert all((row.low, row.high, row.unit) == (None, None, "") for row in rows)


def test_more_pairs_than_are_stored_have_the_same_rates():
    space = a_space("Euclidean")
    space.decisions["cosine"] = Decision("cosine", 0.5, "eer", "others", 0.0, 0.0)
    stored = verification(space, ITEMS, ITEMS.inputs, name="seen", measures="all")
    walked = verification(space, ITEMS, ITEMS.inputs, name="seen", measures="all", most_stored=10)
    assert [row[:4] for row in walked] == [row[:4] for row in stored]
    # Of so few pairs the random part is all of them.
    assert [row.value for row in walked] == pytest.approx([row.value for row in stored])
    assert [row.note for row in walked] == [
        "of 120 pairs" if "minDCF" in row.measure else "" for row in walked
    ]


def test_items_of_one_class_cannot_be_verified():
    alone = ITEMS.take((ITEMS.labels == 0).nonzero().flatten())
    with pytest.raises(ValueError, match="expected trials of both kinds"):
        verification(a_space("Cosine"), alone, alone.inputs, name="seen")


@pytest.mark.parametrize("most_stored", [10_000, 5])
def test_pairs_of_one_group_are_left_out_and_it_is_noted(most_stored):
    groups = torch.arange(len(ITEMS)) // 2
    grouped = dataclasses.replace(ITEMS, groups=groups)
    space = a_space("Euclidean")
    rows = verification(space, grouped, ITEMS.inputs, name="seen", most_stored=most_stored)
    places = [place for place, (i, j) in enumerate(PAIRS) if groups[i] != groups[j]]
    scores = scores_by_hand(space, "similarity")
    area = next(row for row in rows if row.measure == "AUC" and row.kind == "similarity")
    expected = roc_auc_score([SAME[place] for place in places], [scores[place] for place in places])
    assert area.value == pytest.approx(expected)
    assert all(row.note.endswith("own group left out") for row in rows)
    plain = verification(space, ITEMS, ITEMS.inputs, name="seen", most_stored=most_stored)
    assert all("group" not in row.note for row in plain)


def test_where_every_class_is_one_group_its_pairs_stay_and_it_is_noted():
    grouped = dataclasses.replace(ITEMS, groups=ITEMS.labels)
    space = a_space("Euclidean")
    result = verification(space, grouped, ITEMS.inputs, name="seen")
    plain = verification(space, ITEMS, ITEMS.inputs, name="seen")
    assert [row._replace(note="") for row in result] == plain
    assert {row.note for row in result} == {"own group among them"}

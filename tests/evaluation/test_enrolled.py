"""Enrolments drawn from a set: sets of the asked size, disjoint from what they are tested with."""

from dataclasses import replace

import pytest
import torch
from sklearn.metrics import roc_auc_score
from torch import nn

from samekind.data import clusters
from samekind.errors import SettingError
from samekind.evaluation import enrolled
from samekind.evaluation.enrolled import _draw
from samekind.inference.enrolment import COMBINATIONS, enrolment_scores
from samekind.prototypes import SupportMeans
from samekind.similarities import Euclidean
from samekind.space import MetricSpace

pytestmark = pytest.mark.usefixtures("few_draws")

ITEMS = clusters(classes=4, items=6, dimension=3, spread=0.9)
SPACE = MetricSpace(nn.Identity(), Euclidean(), SupportMeans(dimension=3)).eval()


@pytest.mark.parametrize("combination", COMBINATIONS)
def test_agrees_with_a_loop_over_the_trials(combination):
    rows = enrolled(SPACE, ITEMS, ITEMS.inputs, name="seen", shots=3, combination=combination, seed=2)
    members = _draw(ITEMS.labels, 3, 2)
    used = {int(i) for places in members.values() for i in places}
    scores, same = [], []
    for label, indices in members.items():
        for test in (i for i in range(len(ITEMS)) if i not in used):
            pair = [ITEMS.inputs[indices]], ITEMS.inputs[test][None]
            scores.append(float(enrolment_scores(SPACE, *pair, combination=combination)))
            same.append(int(ITEMS.labels[test]) == label)
    area = next(row for row in rows if row.measure == "AUC")
    assert area[:2] == ("enrolment of 3", "seen")
    assert area.value == pytest.approx(roc_auc_score(same, scores))
    assert len(scores) == 4 * 12


def test_several_items_know_a_class_better_than_one():
    items = clusters(classes=8, items=12, dimension=3, spread=0.9)
    one, many = (enrolled(SPACE, items, items.inputs, name="seen", shots=shots)[1].value for shots in (1, 8))
    assert many > one


def test_a_small_class_keeps_an_item_to_be_tested_with():
    few = ITEMS.take(torch.tensor([0, 1, 6, 7, 8, 12]))
    drawn = _draw(few.labels, 5, 0)
    assert {label: len(value) for label, value in drawn.items()} == {0: 1, 1: 2}
    assert len(enrolled(SPACE, few, few.inputs, name="seen", shots=5)) == 6


def test_one_class_cannot_be_verified():
    alone = ITEMS.only(["0"])
    assert enrolled(SPACE, alone, alone.inputs, name="seen") == []


def test_refuses_zero_shots():
    with pytest.raises(SettingError, match="got shots 0"):
        enrolled(SPACE, ITEMS, ITEMS.inputs, name="seen", shots=0)


def test_a_class_is_not_compared_with_the_groups_it_was_enrolled_from():
    groups = torch.arange(len(ITEMS)) // 2
    grouped = replace(ITEMS, groups=groups)
    rows = enrolled(SPACE, grouped, ITEMS.inputs, name="seen", shots=2, seed=2)
    members = _draw(ITEMS.labels, 2, 2)
    used = {int(i) for places in members.values() for i in places}
    scores, same = [], []
    for label, indices in members.items():
        for test in (i for i in range(len(ITEMS)) if i not in used):
            if int(groups[test]) not in groups[indices].tolist():
                scores.append(
                    float(enrolment_scores(SPACE, [ITEMS.inputs[indices]], ITEMS.inputs[test][None]))
                )
                same.append(int(ITEMS.labels[test]) == label)
    area = next(row for row in rows if row.measure == "AUC")
    assert area.value == pytest.approx(roc_auc_score(same, scores))
    assert {row.note for row in rows} == {"own group left out"}
    assert len(scores) < 4 * 16


def test_no_row_where_nothing_of_a_class_is_left():
    """Two groups of a class, and an example of each: every other item is of one of them."""
    few = ITEMS.take(torch.tensor([0, 1, 2, 3, 6, 7, 8, 9]))
    grouped = replace(few, groups=torch.tensor([0, 1, 0, 1, 2, 3, 2, 3]))
    whole = [enrolled(SPACE, few, few.inputs, name="seen", shots=2, seed=seed) for seed in range(8)]
    result = [enrolled(SPACE, grouped, few.inputs, name="seen", shots=3, seed=seed) for seed in range(8)]
    assert all(whole)
    assert result == [[]] * 8

"""Pairs that are never stored: the same rates as of those that are, and an even part of them."""

import pytest
import torch
from torch import nn

from samekind.data import clusters
from samekind.decisions import Decision
from samekind.evaluation import Row
from samekind.evaluation.streamed import _moved, drawn_trials, streamed_rows
from samekind.evaluation.trial_measures import About, trial_rows
from samekind.inference import all_trials
from samekind.prototypes import SupportMeans
from samekind.similarities import Euclidean
from samekind.space import MetricSpace

pytestmark = pytest.mark.usefixtures("few_draws")

ITEMS = clusters(classes=8, items=12, dimension=3, spread=0.8)
SPACE = MetricSpace(nn.Identity(), Euclidean(), SupportMeans(dimension=3)).eval()
ABOUT = About("verification", "seen", "similarity")
DECISION = Decision("similarity", -1.0, "eer", "others", 0.1, 0.1, calibration=(3.0, 2.0))


def test_the_rates_are_those_of_all_pairs_and_the_intervals_near_them():
    stored = trial_rows(
        all_trials(SPACE, ITEMS.inputs, ITEMS.labels), ABOUT, decision=DECISION, measures="all"
    )
    walked = streamed_rows(
        SPACE,
        ITEMS.inputs,
        ITEMS.labels,
        ABOUT,
        kind="similarity",
        decision=DECISION,
        measures="all",
        sampled=3500,
    )
    for one, other in zip(stored, walked, strict=True):
        assert one[:4] == other[:4]
        if one.measure in ("minDCF at 1%", "minDCF at 0.1%", "Cllr"):
            assert other.note.startswith("of 3,")
            assert other.value == pytest.approx(one.value, rel=0.2)
        else:
            assert other.value == pytest.approx(one.value, abs=1e-12)
            assert other.note == ""
            assert other.low <= other.value <= other.high
            assert other.high - other.low == pytest.approx(one.high - one.low, rel=0.5)


@pytest.mark.parametrize(
    ("ends", "part", "exact", "wanted"),
    [
        ((0.0, 7.4e-6), 0.0, 1e-6, (0.0, 7.4e-6)),
        ((0.0, 7.4e-6), 0.0, 2e-5, (0.0, 2e-5)),
        ((0.999, 1.0), 1.0, 0.99999, (0.999, 1.0)),
        ((0.1, 0.4), 0.2, 0.2, (0.1, 0.4)),
    ],
)
def test_a_part_without_an_error_does_not_make_the_interval_of_all_pairs_wild(ends, part, exact, wanted):
    moved = _moved(Row(*ABOUT, "FAR at threshold", part, *ends, "classes"), exact)
    assert moved.value == exact
    assert (moved.low, moved.high) == pytest.approx(wanted, rel=1e-9)


def test_an_interval_moves_with_its_value():
    """By as much as the odds of the value: a tenth of them."""
    odds = [rate / (1 - rate) / 10 for rate in (0.01, 0.02, 0.04)]
    low, value, high = (odd / (1 + odd) for odd in odds)
    moved = _moved(Row(*ABOUT, "EER", 0.02, 0.01, 0.04, "classes"), value)
    assert (moved.value, moved.low, moved.high) == pytest.approx((value, low, high))


def test_without_a_decision_there_are_no_rates_at_a_threshold():
    rows = streamed_rows(SPACE, ITEMS.inputs, ITEMS.labels, ABOUT, kind="similarity", decision=None)
    assert [row.measure for row in rows] == ["EER", "AUC", "minDCF at 1%"]


def test_the_part_keeps_both_kinds_evenly():
    every = all_trials(SPACE, ITEMS.inputs, ITEMS.labels)
    part = drawn_trials(SPACE, ITEMS.inputs, ITEMS.labels, kind="similarity", most=600)
    assert int(every.same.sum()) > 300
    assert int(part.same.sum()) == pytest.approx(300, abs=60)
    assert int((~part.same).sum()) == pytest.approx(300, abs=60)
    assert torch.equal(part.same, part.first == part.second)
    assert set(part.scores.tolist()) <= set(every.scores.tolist())
    for kind in (True, False):
        mean = every.scores[every.same == kind].mean()
        assert float(part.scores[part.same == kind].mean()) == pytest.approx(float(mean), abs=0.1)


def test_few_pairs_of_one_class_are_all_kept():
    part = drawn_trials(SPACE, ITEMS.inputs, ITEMS.labels, kind="similarity", most=4000)
    assert int(part.same.sum()) == 8 * 66
    assert len(part.same) == pytest.approx(4000, abs=200)


def test_a_part_of_everything_is_everything():
    part = drawn_trials(SPACE, ITEMS.inputs, ITEMS.labels, kind="similarity", most=10**6)
    every = all_trials(SPACE, ITEMS.inputs, ITEMS.labels)
    assert torch.equal(part.scores.sort().values, every.scores.sort().values)


def test_the_seed_fixes_the_part():
    parts = [
        drawn_trials(SPACE, ITEMS.inputs, ITEMS.labels, kind="similarity", most=500, seed=seed)
        for seed in (1, 1, 2)
    ]
    assert torch.equal(parts[0].scores, parts[1].scores)
    assert not torch.equal(parts[0].scores, parts[2].scores[: len(parts[0].scores)])


def test_a_part_of_the_pairs_of_two_groups_is_half_of_one_class():
    groups = torch.arange(len(ITEMS)) // 4
    part = drawn_trials(SPACE, ITEMS.inputs, ITEMS.labels, groups=groups, kind="similarity", most=300, seed=1)
    every = all_trials(SPACE, ITEMS.inputs, ITEMS.labels, groups=groups)
    assert set(part.scores.tolist()) <= set(every.scores.tolist())
    assert 0.4 < float(part.same.double().mean()) < 0.6
    assert 240 < len(part.scores) < 360

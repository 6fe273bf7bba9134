"""Thresholds and calibrations against what is known of them."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.errors import SettingError
from samekind.inference import fit_decision
from samekind.inference.trials import Trials
from samekind.measures import (
    bootstrap_trials,
    detection_cost,
    logistic_calibration,
    minimum_detection_cost,
)


def pairs(scores, same):
    """Trials of classes nobody asks for."""
    nobody = torch.zeros(len(scores), dtype=torch.int32)
    return Trials(scores, same, nobody, nobody)


# positives .9, .8, .4, negatives .7, .3, .2, .1: the rates are nearest at .7, a third and a quarter.
KNOWN = pairs(
    torch.tensor([0.9, 0.8, 0.4, 0.7, 0.3, 0.2, 0.1], dtype=torch.double),
    torch.tensor([True] * 3 + [False] * 4),
)


def gaussians(different, same, *, spread=1.0, count=4000, share=0.5):
    """Scores of both kinds around their own centres."""
    generator = torch.Generator().manual_seed(0)
    targets = int(count * share)
    scores = torch.randn(count, generator=generator, dtype=torch.double) * spread + different
    scores[:targets] += same - different
    return pairs(scores, torch.arange(count) < targets)


# --- decisions --------------------------------------------------------------------------------------


def test_the_equal_error_point_of_a_known_case():
    decision = fit_decision(KNOWN, kind="cosine", description="seven")
    assert (decision.kind, decision.point) == ("cosine", "eer")
    assert decision.threshold == pytest.approx(0.7, abs=1e-5)
    assert decision.false_accepts == pytest.approx(1 / 4)
    assert decision.false_rejects == pytest.approx(1 / 3)
    assert decision.trials == "seven: 3 same, 4 different"
    assert decision.calibration == logistic_calibration(KNOWN.scores, KNOWN.same)


@pytest.mark.parametrize(
    ("point", "threshold", "false_accepts", "false_rejects"),
    [
        ("far=0", 0.8, 0, 1 / 3),
        ("far=0.24", 0.8, 0, 1 / 3),
        ("far=0.25", 0.4, 1 / 4, 0),
        ("far=2.5e-1", 0.4, 1 / 4, 0),
        ("far=0.5", 0.3, 2 / 4, 0),
        ("far=1", 0.1, 1, 0),
    ],
)
def test_a_chosen_rate_of_false_accepts(point, threshold, false_accepts, false_rejects):
    decision = fit_decision(KNOWN, kind="similarity", point=point, description="seven")
    assert decision.threshold == pytest.approx(threshold, abs=1e-5)
    assert decision.false_accepts == pytest.approx(false_accepts)
    assert decision.false_rejects == pytest.approx(false_rejects)
    assert decision.point == point


@settings(max_examples=30)
@given(
    same=st.lists(st.integers(-5, 5), min_size=1, max_size=8),
    different=st.lists(st.integers(-5, 5), min_size=1, max_size=8),
    rate=st.integers(0, 100),
)
def test_the_rates_stored_are_those_the_decision_has(same, different, rate):
    """Counted one trial at a time, in float32, as scores come out of a network."""
    scores = torch.tensor([*same, *different]) / 7
    trials = pairs(scores, torch.tensor([True] * len(same) + [False] * len(different)))
    for point in ("eer", f"far={rate / 100}"):
        decision = fit_decision(trials, kind="similarity", point=point, description="made up")
        accepted = decision.accepts(scores).tolist()
        fooled = sum(accepted[len(same) :]) / len(different)
        missed = 1 - sum(accepted[: len(same)]) / len(same)
        assert decision.false_accepts == pytest.approx(fooled)
        assert decision.false_rejects == pytest.approx(missed)
        assert point == "eer" or fooled <= rate / 100
        assert math.isfinite(decision.threshold)


def test_refuses_an_unknown_point():
    with pytest.raises(SettingError, match=r'expected an operating point "eer", .* got "FAR=0.1"'):
        fit_decision(KNOWN, kind="similarity", point="FAR=0.1", description="seven")


@pytest.mark.parametrize("same", [True, False])
def test_trials_of_one_kind_are_refused(same):
    with pytest.raises(ValueError, match="expected trials of both kinds"):
        fit_decision(pairs(torch.rand(4), torch.full((4,), same)), kind="similarity", description="one kind")


# --- intervals, counts and costs --------------------------------------------------------------------


def of_classes(classes=6, items=5, seed=0):
    """All pairs of some items, with scores that depend on the classes too."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(classes, dtype=torch.int32).repeat_interleave(items)
    one, other = torch.triu_indices(len(labels), len(labels), 1)
    first, second = labels[one], labels[other]
    hard = torch.randn(classes, generator=generator)
    scores = torch.randn(len(one), generator=generator) + 0.3 * (hard[first] + hard[second])
    return Trials(scores + 2 * (first == second), first == second, first, second)


@pytest.mark.parametrize("point", ["eer", "far=0.05", "frr=0.1", "cost=0.2"])
def test_the_rates_come_with_their_intervals_and_counts(point):
    trials = of_classes()
    decision = fit_decision(trials, kind="similarity", point=point, description="made up")
    result = bootstrap_trials(*trials, statistics=("FAR", "FRR"), threshold=decision.threshold)
    assert decision.false_accept_interval == result["FAR"][1:]
    assert decision.false_reject_interval == result["FRR"][1:]
    assert decision.false_accepts == result["FAR"].mean
    assert (decision.same_trials, decision.different_trials, decision.classes) == (60, 375, 6)
    assert decision == fit_decision(trials, kind="similarity", point=point, description="made up")


def test_too_few_classes_give_no_interval():
    trials = of_classes(classes=2)
    decision = fit_decision(trials, kind="similarity", description="made up")
    assert decision.false_accept_interval is None
    assert decision.false_reject_interval is None
    assert decision.classes == 2


def test_a_chosen_rate_of_false_rejects():
    decision = fit_decision(KNOWN, kind="similarity", point="frr=0.4", description="seven")
    assert decision.threshold == pytest.approx(0.8, abs=1e-5)
    assert decision.false_rejects == pytest.approx(1 / 3)
    assert decision.false_accepts == 0


@pytest.mark.parametrize(("point", "odds"), [("cost=0.5", 1), ("cost=0.01", 99), ("cost=0.5:1:10", 10)])
def test_the_threshold_of_a_cost_is_where_the_odds_outweigh_it(point, odds):
    trials = gaussians(-1, 1, count=20_000)
    decision = fit_decision(trials, kind="similarity", point=point, description="made up")
    # ln p(s | same) / p(s | different) = 2 s for these
    assert decision.threshold == pytest.approx(math.log(odds) / 2, abs=0.1)
    probability = decision.probability(torch.tensor(decision.threshold, dtype=torch.double))
    assert float(probability) == pytest.approx(odds / (1 + odds))


def test_the_threshold_of_a_cost_is_near_the_cheapest():
    trials = gaussians(-1, 1, count=20_000)
    decision = fit_decision(trials, kind="similarity", point="cost=0.1:2:1", description="made up")
    options = {"prior": 0.1, "miss_cost": 2.0}
    least = minimum_detection_cost(trials.scores, trials.same, **options).cost
    assert detection_cost(trials.scores, trials.same, decision.threshold, **options) <= 1.03 * least


def test_a_score_that_points_the_wrong_way_is_not_trusted_to_accept():
    trials = gaussians(1, -1)
    decision = fit_decision(trials, kind="similarity", point="cost=0.9", description="made up")
    assert decision.false_accepts == 0


def test_the_calibration_is_the_logistic_one():
    trials = of_classes()
    decision = fit_decision(trials, kind="similarity", description="made up")
    assert decision.calibration == logistic_calibration(trials.scores, trials.same)

"""Rows of trials: the values of the room of measures, asked for by a decision; pairs of systems."""

import pytest
import torch

from samekind.decisions import Decision
from samekind.evaluation.trial_measures import About, trial_differences, trial_rows
from samekind.inference.trials import Trials
from samekind.measures import (
    accuracy_at,
    area_under_curve,
    equal_error_rate,
    log_likelihood_ratio_cost,
    minimum_detection_cost,
    paired_bootstrap,
    rates_at,
)

ABOUT = About("verification", "seen", "cosine")
DECISION = Decision("cosine", 0.5, "eer", "others", 0.1, 0.1, calibration=(3.0, -1.0))


def some_trials(seed=0, classes=6, count=400):
    generator = torch.Generator().manual_seed(seed)
    first = torch.randint(classes, (count,), generator=generator).int()
    second = torch.where(
        torch.rand(count, generator=generator) < 0.4,
        first,
        torch.randint(classes, (count,), generator=generator).int(),
    )
    scores = (first == second).float() + torch.randn(count, generator=generator)
    return Trials(scores, first == second, first, second)


def test_without_a_decision_there_is_no_accuracy_at_a_threshold():
    rows = trial_rows(some_trials(), ABOUT, decision=None, measures="all")
    assert [row.measure for row in rows] == ["EER", "AUC", "minDCF at 1%"]


def test_every_measure_is_the_one_of_its_name():
    trials = some_trials()
    scores, same = trials.scores, trials.same
    rows = trial_rows(trials, ABOUT, decision=DECISION, measures="all")
    accepts, rejects = rates_at(scores, same, 0.5)
    expected = {
        "EER": equal_error_rate(scores, same).rate,
        "AUC": area_under_curve(scores, same),
        "minDCF at 1%": minimum_detection_cost(scores, same, prior=0.01).cost,
        "accuracy at threshold": accuracy_at(scores, same, 0.5),
        "FAR at threshold": accepts,
        "FRR at threshold": rejects,
        "minDCF at 0.1%": minimum_detection_cost(scores, same, prior=0.001).cost,
        "Cllr": log_likelihood_ratio_cost(3 * scores.double() - 1, same),
    }
    assert {row.measure: row.value for row in rows} == pytest.approx(expected)
    for row in rows:
        assert (row.question, row.items, row.kind) == ABOUT
        assert row.low <= row.value <= row.high
        assert row.unit == "classes"


def test_the_main_measures_leave_out_both_error_rates():
    rows = trial_rows(some_trials(), ABOUT, decision=DECISION)
    assert [row.measure for row in rows] == ["EER", "AUC", "minDCF at 1%", "accuracy at threshold"]


def test_a_decision_without_calibration_has_no_cllr():
    plain = Decision("cosine", 0.5, "eer", "others", 0.1, 0.1)
    assert "Cllr" not in {
        row.measure for row in trial_rows(some_trials(), ABOUT, decision=plain, measures="all")
    }


def test_two_classes_have_values_and_no_intervals():
    trials = some_trials(classes=2)
    rows = trial_rows(trials, ABOUT, decision=DECISION, measures="all")
    assert len(rows) == 8
    assert rows[0].value == equal_error_rate(trials.scores, trials.same).rate
    assert all(row[5:] == (None, None, "", "") for row in rows)


def test_classes_that_come_late_count_too():
    """A list may begin with a thousand trials of two classes."""
    early, late = some_trials(classes=2, count=1500), some_trials(classes=6, count=50)
    both = Trials(*(torch.cat(value) for value in zip(early, late, strict=True)))
    assert trial_rows(both, ABOUT, decision=None)[0].unit == "classes"


def test_differences_are_the_paired_ones():
    one = some_trials()
    other = one._replace(scores=one.scores + torch.randn(400, generator=torch.Generator().manual_seed(9)))
    decisions = DECISION, Decision("cosine", 0.2, "eer", "others", 0.1, 0.1)
    rows = trial_differences(one, other, ABOUT, decisions=decisions, measures="all", seed=4)
    # The second has no calibration, so there is no Cllr to compare.
    names = ["EER", "AUC", "minDCF at 1%", "accuracy at threshold", "FAR at threshold", "FRR at threshold"]
    assert [row.measure for row in rows] == [*names, "minDCF at 0.1%"]
    expected = paired_bootstrap(
        one.scores,
        other.scores,
        *one[1:],
        statistics=["EER", "AUC", "minDCF", "accuracy", "FAR", "FRR", "strict minDCF"],
        thresholds=(0.5, 0.2),
        seed=4,
    )
    for row, (interval, p_value) in zip(rows, expected.values(), strict=True):
        assert row.difference == pytest.approx(interval.mean) == row.first - row.second
        assert (row.low, row.high, row.p_value, row.unit) == (*interval[1:], p_value, "classes")


def test_one_decision_alone_cannot_be_compared():
    one = some_trials()
    rows = trial_differences(one, one, ABOUT, decisions=(DECISION, None))
    assert [row.measure for row in rows] == ["EER", "AUC", "minDCF at 1%"]


def test_two_classes_have_a_difference_and_no_interval():
    one = some_trials(classes=2)
    rows = trial_differences(one, one._replace(scores=-one.scores), ABOUT, decisions=(None, None))
    assert rows[1].difference == pytest.approx(2 * area_under_curve(*one[:2]) - 1)
    assert rows[1][7:] == (None, None, None, "")


def test_refuses_trials_in_another_order():
    one = some_trials()
    turned = Trials(*(value.flip(0) for value in one))
    with pytest.raises(ValueError, match="same order"):
        trial_differences(one, turned, ABOUT, decisions=(None, None))

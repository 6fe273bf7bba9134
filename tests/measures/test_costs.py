"""Detection costs against trying every threshold; the log likelihood ratio costs against the definitions."""

import doctest
import math

import pytest
import torch
from hypothesis import assume, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import log_loss

from samekind.measures import (
    bayes_threshold,
    costs,
    detection_cost,
    log_likelihood_ratio_cost,
    minimum_detection_cost,
    minimum_log_likelihood_ratio_cost,
    rates_at,
)

ANCHOR = (
    torch.tensor([0.9, 0.8, 0.4, 0.7, 0.3, 0.2, 0.1], dtype=torch.double),
    torch.tensor([True, True, True, False, False, False, False]),
)
PRIORS = st.sampled_from([0.001, 0.01, 0.3, 0.5, 0.9])
COSTS = st.sampled_from([0.1, 1.0, 10.0])


@st.composite
def trials(draw):
    pairs = draw(st.lists(st.tuples(st.integers(-6, 6), st.booleans()), min_size=2, max_size=24))
    scores, same = torch.tensor([s for s, _ in pairs]).double(), torch.tensor([k for _, k in pairs])
    assume(same.any() and not same.all())
    return scores, same


def cost_by_hand(scores, same, threshold, prior, miss_cost, false_accept_cost):
    accepts, rejects = rates_at(scores, same, threshold)
    cost = prior * miss_cost * rejects + (1 - prior) * false_accept_cost * accepts
    return cost / min(prior * miss_cost, (1 - prior) * false_accept_cost)


def test_the_worked_example():
    """At .8 one of three is missed and nothing let in: a third of what refusing everything costs."""
    assert minimum_detection_cost(*ANCHOR, prior=0.01) == (pytest.approx(1 / 3), 0.8)


@examples(max_examples=60)
@given(trials(), PRIORS, COSTS, COSTS)
def test_the_minimum_over_every_threshold_and_both_ends(given_trials, prior, miss_cost, false_accept_cost):
    scores, same = given_trials
    settings = {"prior": prior, "miss_cost": miss_cost, "false_accept_cost": false_accept_cost}
    result = minimum_detection_cost(scores, same, **settings)
    thresholds = [math.inf, *sorted(set(scores.tolist()), reverse=True), -math.inf]
    tried = [cost_by_hand(scores, same, threshold, **settings) for threshold in thresholds]
    assert result.cost == pytest.approx(min(tried))
    assert result.cost <= 1 + 1e-12
    assert detection_cost(scores, same, result.threshold, **settings) == pytest.approx(result.cost)
    best = [at for at, cost in zip(thresholds, tried, strict=True) if cost <= min(tried) + 1e-9]
    assert result.threshold == best[0]


@pytest.mark.parametrize("prior", [0.01, 0.5, 0.99])
def test_separated_scores_cost_0_and_uninformative_ones_1(prior):
    scores, same = torch.tensor([4.0, 3, 2, 1]), torch.tensor([True, True, False, False])
    assert minimum_detection_cost(scores, same, prior=prior) == (0, 3)
    assert minimum_detection_cost(-scores, same, prior=prior).cost == pytest.approx(1)
    assert minimum_detection_cost(torch.zeros(4), same, prior=prior).cost == pytest.approx(1)


@examples(max_examples=40)
@given(trials(), st.integers(-7, 7), PRIORS, COSTS, COSTS)
def test_the_cost_at_a_threshold(given_trials, threshold, prior, miss_cost, false_accept_cost):
    settings = {"prior": prior, "miss_cost": miss_cost, "false_accept_cost": false_accept_cost}
    expected = cost_by_hand(*given_trials, threshold, **settings)
    assert detection_cost(*given_trials, threshold, **settings) == pytest.approx(expected)


@examples(max_examples=40)
@given(trials(), PRIORS, COSTS, COSTS)
def test_without_a_threshold_it_is_that_of_log_likelihood_ratios(given_trials, prior, miss, false_accept):
    settings = {"prior": prior, "miss_cost": miss, "false_accept_cost": false_accept}
    threshold = math.log((1 - prior) * false_accept / (prior * miss))
    assert bayes_threshold(**settings) == pytest.approx(threshold)
    expected = cost_by_hand(*given_trials, bayes_threshold(**settings), **settings)
    assert detection_cost(*given_trials, **settings) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prior": 0.0}, "expected a prior between 0 and 1, got 0.0"),
        ({"prior": math.nan}, "expected a prior between 0 and 1, got nan"),
        ({"miss_cost": 0.0}, "expected a miss_cost above 0, got 0.0"),
        ({"false_accept_cost": -1.0}, r"expected a false_accept_cost above 0, got -1\.0"),
    ],
)
def test_refuses_invalid_costs(settings, message):
    for measure in (minimum_detection_cost, detection_cost):
        with pytest.raises(ValueError, match=message):
            measure(*ANCHOR, **settings)
    with pytest.raises(ValueError, match=message):
        bayes_threshold(**settings)


# --- log likelihood ratios ------------------------------------------------------------------------


@examples(max_examples=40)
@given(trials())
def test_the_cost_of_ratios_is_the_balanced_log_loss_in_bits(given_trials):
    scores, same = given_trials
    weight = torch.where(same, 0.5 / same.sum(), 0.5 / (~same).sum())
    expected = log_loss(same.numpy(), scores.sigmoid().numpy(), sample_weight=weight.numpy()) / math.log(2)
    assert log_likelihood_ratio_cost(scores, same) == pytest.approx(expected)


def test_sure_and_right_costs_nothing_sure_and_wrong_without_limit():
    same = torch.tensor([True, False])
    assert log_likelihood_ratio_cost(torch.tensor([1000.0, -1000.0]), same) == 0
    assert log_likelihood_ratio_cost(torch.tensor([-1000.0, 1000.0]), same) == pytest.approx(
        1000 / math.log(2)
    )


@examples(max_examples=40)
@given(trials())
def test_the_least_cost_is_that_of_the_isotonic_regression(given_trials):
    scores, same = given_trials
    weight = torch.where(same, 0.5 / same.double().sum(), 0.5 / (~same).double().sum())
    regression = IsotonicRegression(y_min=0, y_max=1)
    probability = torch.from_numpy(
        regression.fit_transform(scores.numpy(), same.double().numpy(), sample_weight=weight.numpy())
    )
    surprise = -torch.where(same, probability, 1 - probability).log()
    expected = float((weight * surprise).sum()) / math.log(2)
    assert minimum_log_likelihood_ratio_cost(scores, same) == pytest.approx(expected, abs=1e-9)


@examples(max_examples=40)
@given(trials(), st.floats(0.1, 3), st.floats(-3, 3))
def test_no_rising_line_costs_less_than_the_least(given_trials, slope, offset):
    scores, same = given_trials
    least = minimum_log_likelihood_ratio_cost(scores, same)
    assert 0 <= least <= 1
    assert least <= log_likelihood_ratio_cost(slope * scores + offset, same) + 1e-12
    assert least == pytest.approx(minimum_log_likelihood_ratio_cost(scores.atan(), same))


def test_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(costs)
    assert outcome.attempted > 0
    assert outcome.failed == 0

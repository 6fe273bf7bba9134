"""Calibration against what is known of Gaussians, scikit-learn and its own laws."""

import doctest
import json
import math

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from samekind.measures import (
    IsotonicCalibration,
    calibration,
    isotonic_calibration,
    log_likelihood_ratio_cost,
    logistic_calibration,
    minimum_log_likelihood_ratio_cost,
)


def gaussians(different, same, *, spread=1.0, count=4000, share=0.5):
    """Scores of both kinds around their own centres."""
    generator = torch.Generator().manual_seed(0)
    targets = int(count * share)
    scores = torch.randn(count, generator=generator, dtype=torch.double) * spread + different
    scores[:targets] += same - different
    return scores, torch.arange(count) < targets


@st.composite
def trials(draw):
    pairs = draw(st.lists(st.tuples(st.integers(-6, 6), st.booleans()), min_size=2, max_size=24))
    scores, same = torch.tensor([s for s, _ in pairs]).double(), torch.tensor([k for _, k in pairs])
    assume(same.any() and not same.all())
    return scores, same


# --- a line -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("different", "same", "spread"), [(-1, 1, 1), (0, 3, 2), (100, 130, 20), (0.5, 0.6, 0.1)]
)
@pytest.mark.parametrize(("share", "prior"), [(0.5, 0.5), (0.1, 0.5), (0.5, 0.1)])
def test_overlapping_gaussians_give_back_their_likelihood_ratio(different, same, spread, share, prior):
    """The ratio is a line whatever the prior, and the trials of a kind count however many there are."""
    trials = gaussians(different, same, spread=spread, count=20_000, share=share)
    slope, offset = logistic_calibration(*trials, prior=prior)
    assert slope == pytest.approx((same - different) / spread**2, rel=0.06)
    assert -offset / slope == pytest.approx((same + different) / 2, abs=0.06 * spread)


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_agrees_with_the_logistic_regression_of_scikit_learn(share):
    scores, same = gaussians(-0.5, 0.5, count=500, share=share)
    slope, offset = logistic_calibration(scores, same)
    regression = LogisticRegression(C=1e6, class_weight="balanced", tol=1e-10)
    regression.fit(scores[:, None].numpy(), same.numpy())
    assert slope == pytest.approx(regression.coef_.item(), rel=2e-3)
    assert offset == pytest.approx(regression.intercept_.item(), abs=2e-3)


@pytest.mark.parametrize("gap", [1e-6, 0.1, 1.0, 1e6])
@pytest.mark.parametrize("prior", [0.01, 0.5])
def test_separated_trials_give_a_steep_line_and_not_an_infinite_one(gap, prior):
    scores = torch.cat([torch.linspace(0, 1, 10), 1 + gap + torch.linspace(0, 1, 10)]).double()
    slope, offset = logistic_calibration(scores, torch.arange(20) >= 10, prior=prior)
    assert math.isfinite(slope)
    assert math.isfinite(offset)
    assert slope > 0
    if prior == 0.5:
        assert ((slope * scores + offset > 0) == (torch.arange(20) >= 10)).all()


@pytest.mark.parametrize("prior", [0.01, 0.5])
def test_uninformative_scores_give_the_ratio_0(prior):
    slope, offset = logistic_calibration(torch.full((10,), 0.3), torch.arange(10) < 3, prior=prior)
    assert slope == pytest.approx(0, abs=1e-6)
    assert slope * 0.3 + offset == pytest.approx(0, abs=1e-6)


def test_reversed_scores_give_a_falling_line():
    assert logistic_calibration(*gaussians(1, -1))[0] < 0


# --- any rising curve -------------------------------------------------------------------------------


@examples(max_examples=40)
@given(trials())
def test_at_the_scores_it_is_the_isotonic_regression_with_four_trials_more(given_trials):
    scores, same = given_trials
    curve = isotonic_calibration(scores, same)
    ends = torch.tensor([-99.0, -99.0, 99.0, 99.0]).double()
    more, kinds = torch.cat([ends, scores]), torch.cat([torch.tensor([True, False, True, False]), same])
    weight = torch.where(kinds, 0.5 / kinds.double().sum(), 0.5 / (~kinds).double().sum())
    regression = IsotonicRegression().fit(more.numpy(), kinds.double().numpy(), weight.numpy())
    expected = regression.predict(scores.numpy())
    np.testing.assert_allclose(curve.probability(scores), expected, atol=1e-12)


@examples(max_examples=40)
@given(trials())
def test_the_curve_rises_is_finite_and_flat_beyond_the_scores(given_trials):
    scores, same = given_trials
    curve = isotonic_calibration(scores, same)
    assert list(curve.knots) == sorted(set(curve.knots))
    assert (curve.knots[0], curve.knots[-1]) == (scores.min(), scores.max())
    ratios = curve.log_likelihood_ratio(torch.linspace(-20, 20, 201))
    assert ratios.isfinite().all()
    assert (ratios.diff() >= -1e-12).all()
    assert ratios[0] == curve.log_likelihood_ratios[0]
    assert ratios[-1] == curve.log_likelihood_ratios[-1]


def test_between_two_knots_it_is_straight():
    curve = IsotonicCalibration([0.0, 1.0, 3.0], [-1.0, 0.0, 4.0])
    result = curve.log_likelihood_ratio(torch.tensor([[-5.0, 0.0, 0.5], [1.0, 2.0, 9.0]]))
    assert result.tolist() == [[-1, -1, -0.5], [0, 2, 4]]


def test_a_single_knot_is_flat():
    curve = isotonic_calibration(torch.ones(2), torch.tensor([True, False]))
    assert curve.knots == (1.0,)
    assert curve.log_likelihood_ratio(torch.tensor([0.0, 1.0, 2.0])).tolist() == pytest.approx([0, 0, 0])


def test_it_survives_json():
    curve = isotonic_calibration(*gaussians(0, 1, count=100))
    back = IsotonicCalibration(**json.loads(json.dumps(curve._asdict())))
    scores = torch.linspace(-3, 3, 50)
    assert torch.equal(back.probability(scores), curve.probability(scores))


def test_the_prior_moves_the_probability_and_not_the_ratio():
    curve = isotonic_calibration(*gaussians(0, 2, count=200))
    scores = torch.linspace(-2, 4, 9)
    ratio = curve.log_likelihood_ratio(scores)
    expected = 1 / (1 + (1 - 0.1) / 0.1 * (-ratio).exp())
    torch.testing.assert_close(curve.probability(scores, prior=0.1), expected)
    with pytest.raises(ValueError, match="expected a prior between 0 and 1, got 1"):
        curve.probability(scores, prior=1)


def test_many_trials_come_close_to_the_least_cost():
    scores, same = gaussians(0, 1.5, count=4000)
    curve = isotonic_calibration(scores, same)
    cost = log_likelihood_ratio_cost(curve.log_likelihood_ratio(scores), same)
    assert cost == pytest.approx(minimum_log_likelihood_ratio_cost(scores, same), abs=2e-3)


def test_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(calibration)
    assert outcome.attempted > 0
    assert outcome.failed == 0

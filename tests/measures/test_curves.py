"""Curves against scikit-learn and SciPy, and the error rates at their own thresholds."""

import doctest
import math

import pytest
import torch
from hypothesis import assume, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import auc, det_curve, roc_curve

from samekind.measures import (
    area_under_curve,
    curves,
    detection_error_tradeoff,
    error_rates,
    rates_at,
    receiver_operating_characteristic,
)


@st.composite
def trials(draw):
    pairs = draw(st.lists(st.tuples(st.integers(-6, 6), st.booleans()), min_size=2, max_size=24))
    scores, same = torch.tensor([s for s, _ in pairs]).double(), torch.tensor([k for _, k in pairs])
    assume(same.any() and not same.all())
    return scores, same


def many(count=3000):
    generator = torch.Generator().manual_seed(0)
    same = torch.rand(count, generator=generator) < 0.3
    return torch.randn(count, generator=generator, dtype=torch.double) + same, same


@examples(max_examples=40)
@given(trials())
def test_the_corners_are_points_of_the_whole_curve_and_hold_its_area(given_trials):
    scores, same = given_trials
    curve = receiver_operating_characteristic(scores, same)
    whole = error_rates(scores, same)
    every = dict(
        zip(
            whole.thresholds.tolist(),
            zip(whole.false_accepts.tolist(), (1 - whole.false_rejects).tolist(), strict=True),
            strict=True,
        )
    )
    for threshold, accepts, hits in zip(*(column.tolist() for column in curve), strict=True):
        assert (accepts, hits) == pytest.approx(every[threshold])
    area = auc(curve.false_accepts.numpy(), curve.true_accepts.numpy())
    assert area == pytest.approx(area_under_curve(scores, same))


@examples(max_examples=40)
@given(trials())
def test_no_corner_lies_within_a_straight_step(given_trials):
    curve = receiver_operating_characteristic(*given_trials)
    right, up = curve.false_accepts.diff() > 0, curve.true_accepts.diff() > 0
    for this in range(1, len(right)):
        assert not (right[this - 1] and right[this] and not up[this - 1] and not up[this])
        assert not (up[this - 1] and up[this] and not right[this - 1] and not right[this])


def test_without_ties_scikit_learn_keeps_the_same_corners():
    scores, same = many()
    accepts, hits, thresholds = roc_curve(same.numpy(), scores.numpy())
    curve = receiver_operating_characteristic(scores, same)
    # scikit-learn also keeps the first score, where the curve leaves (0, 0) straight.
    start = int(thresholds[1] != curve.thresholds[1])
    expected = [value.tolist()[:1] + value.tolist()[1 + start :] for value in (thresholds, accepts, hits)]
    for result, rate in zip(curve, expected, strict=True):
        assert result.tolist() == pytest.approx(rate)


def test_the_ends_of_the_curve():
    thresholds, accepts, hits = receiver_operating_characteristic(*many(50))
    assert (thresholds[0], accepts[0], hits[0]) == (math.inf, 0, 0)
    assert (accepts[-1], hits[-1]) == (1, 1)
    constant = receiver_operating_characteristic(torch.ones(3), torch.tensor([True, False, False]))
    assert [value.tolist() for value in constant] == [[math.inf, 1], [0, 1], [0, 1]]


def test_the_tradeoff_is_among_the_points_of_scikit_learn():
    scores, same = many(400)
    accepts, rejects, thresholds = det_curve(same.numpy(), scores.numpy())
    reference = dict(
        zip(thresholds.tolist(), zip(accepts.tolist(), rejects.tolist(), strict=True), strict=True)
    )
    curve = detection_error_tradeoff(scores, same)
    shared = 0
    for threshold, accept, reject in zip(*(column.tolist() for column in curve[:3]), strict=True):
        if threshold in reference:
            assert (accept, reject) == pytest.approx(reference[threshold])
            shared += 1
    assert shared > 50


@examples(max_examples=30)
@given(trials())
def test_rates_and_probits_of_the_tradeoff(given_trials):
    scores, same = given_trials
    curve = detection_error_tradeoff(scores, same)
    sizes = int((~same).sum()), int(same.sum())
    for threshold, *rates_and_probits in zip(*(column.tolist() for column in curve), strict=True):
        assert tuple(rates_and_probits[:2]) == rates_at(scores, same, threshold)
        for rate, probit, size in zip(rates_and_probits[:2], rates_and_probits[2:], sizes, strict=True):
            assert probit == pytest.approx(norm.ppf(min(max(rate, 0.5 / size), 1 - 0.5 / size)), abs=1e-9)


def test_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(curves)
    assert outcome.attempted > 0
    assert outcome.failed == 0

"""The temperature of greatest likelihood against a plain search, and where there is none."""

import doctest
import math
import statistics

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

from samekind.measures import TemperatureCalibration, temperature, temperature_calibration


def drawn(seed, items=40, classes=4, size=3.0):
    """Scores whose softmax says the truth, and that truth."""
    generator = torch.Generator().manual_seed(seed)
    scores = size * torch.randn(items, classes, generator=generator, dtype=torch.double)
    return scores, torch.multinomial(scores.softmax(1), 1, generator=generator)[:, 0]


def cost_by_hand(scores, truth, temperature):
    """-ln of the true classes' probabilities, and of the second class of one made-up item."""
    total, margins = 0.0, []
    for row, right in zip(scores.tolist(), truth.tolist(), strict=True):
        best, second = sorted(row, reverse=True)[:2]
        margins.append(best - second)
        total += (best - row[right]) / temperature
        total += math.log(sum(math.exp((value - best) / temperature) for value in row))
    apart = statistics.median_low(margins) / temperature
    return total + apart + math.log(1 + math.exp(-apart))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 20), st.integers(2, 5), st.sampled_from([0.01, 1.0, 20.0, 1e4]))
def test_it_is_where_the_likelihood_is_greatest(seed, items, classes, factor):
    scores, truth = drawn(seed, items, classes)
    result = temperature_calibration(factor * scores, truth)
    expected = minimize_scalar(
        lambda logarithm: cost_by_hand(scores, truth, math.exp(logarithm)),
        bounds=(math.log(result.lowest / factor), math.log(result.highest / factor)),
        method="bounded",
        options={"xatol": 1e-9},
    )
    here = cost_by_hand(scores, truth, result.temperature / factor)
    assert here <= expected.fun + 1e-9 * items
    if not result.at_bound:
        for beside in (0.999, 1.001):
            assert here < cost_by_hand(scores, truth, beside * result.temperature / factor)


@pytest.mark.parametrize("wrong", [0.2, 1.0, 5.0, 300.0])
def test_many_items_give_back_what_was_multiplied(wrong):
    scores, truth = drawn(0, items=20_000)
    assert temperature_calibration(wrong * scores, truth).temperature == pytest.approx(wrong, rel=0.03)


@pytest.mark.parametrize("factor", [1e-30, 1e-3, 1e3, 1e30, 1e250])
def test_it_follows_the_unit_of_the_scores_and_no_shift_of_an_item(factor):
    scores, truth = drawn(1)
    plain = temperature_calibration(scores, truth)
    moved = factor * (scores + 100 * torch.arange(len(scores))[:, None])
    assert temperature_calibration(factor * scores, truth) == pytest.approx(
        tuple(factor * value for value in plain), rel=1e-9
    )
    assert temperature_calibration(moved, truth) == pytest.approx(tuple(factor * entry for entry in plain))


@pytest.mark.parametrize("items", [1, 10, 1000])
def test_items_that_are_all_right_do_not_make_it_certain(items):
    """As if one more had been wrong: n of n + 1. Of one item it is one against one: a bound."""
    scores = torch.tensor([[5.0, 0.0]]).repeat(items, 1)
    result = temperature_calibration(scores, torch.zeros(items, dtype=torch.int64))
    assert result.at_bound == (items == 1)
    chance = float((scores[0] / result.temperature).softmax(0)[0])
    assert chance == pytest.approx(items / (items + 1), abs=1e-3 if items == 1 else 1e-6)


def test_a_peer_finds_the_same_of_many_items():
    """scikit-learn has no made-up item, which one in thousands does not show."""

    class Given(BaseEstimator, ClassifierMixin):
        """A classifier whose scores are its input."""

        def fit(self, x, y):
            self.classes_ = np.unique(y)
            return self

        def decision_function(self, x):
            return x

        def predict(self, x):
            return x.argmax(1)

    scores, truth = drawn(5, items=4000, size=2.0)
    x, y = 3 * scores.numpy(), truth.numpy()
    peer = CalibratedClassifierCV(FrozenEstimator(Given().fit(x, y)), method="temperature", cv=2).fit(x, y)
    result = temperature_calibration(3 * scores, truth).temperature
    own = (3 * scores / result).softmax(1)
    torch.testing.assert_close(torch.from_numpy(peer.predict_proba(x)), own, atol=5e-3, rtol=0)


@pytest.mark.parametrize("scores", [[[5.0, 0.0]], [[5.0, 0.0], [7.0, 0.0]], [[1e38, -1e38], [1.0, 0.0]]])
def test_items_that_are_all_wrong_are_a_guess_and_the_order_stays(scores):
    scores = torch.tensor(scores)
    result = temperature_calibration(scores, torch.ones(len(scores), dtype=torch.int64))
    assert result.at_bound
    assert result.temperature == result.highest
    chances = (scores.double() / result.temperature).softmax(1)
    assert (chances[:, 0] > chances[:, 1]).all()
    assert float((chances[-1, 0] - 0.5).abs()) < 1e-3


@pytest.mark.parametrize("scores", [torch.zeros(3, 4), torch.full((3, 4), 0.1), torch.randn(3, 1)])
def test_scores_that_differ_for_no_class_leave_it_at_1(scores):
    result = temperature_calibration(scores, torch.zeros(3, dtype=torch.int64))
    assert result == TemperatureCalibration(1.0, 1.0, 1.0)
    assert not result.at_bound


def test_items_whose_scores_are_ties_do_not_decide_the_unit():
    """0.1 three times has a mean that is not 0.1; most items here are such."""
    scores, truth = drawn(2)
    ties = torch.full((200, 4), 0.1, dtype=torch.double)
    plain = temperature_calibration(scores, truth)
    result = temperature_calibration(torch.cat([scores, ties]), torch.cat([truth, truth.repeat(5)]))
    assert result == pytest.approx(tuple(plain))


def test_two_best_classes_that_always_tie_differ_from_the_others_with_certainty():
    """Right half the time, whatever the temperature, and never the third: as sharp as it may be."""
    scores, truth = torch.tensor([[1.0, 1.0, 0.0]] * 4), torch.tensor([0, 1, 0, 1])
    result = temperature_calibration(scores, truth)
    assert (result.temperature, result.at_bound) == (result.lowest, True)


def test_one_item_of_huge_scores_does_not_hide_the_others():
    scores, truth = drawn(3, items=400)
    scores[0] = torch.tensor([1e30, 0.0, 0.0, 0.0])
    truth[0] = 0
    plain = temperature_calibration(scores[1:], truth[1:]).temperature
    assert temperature_calibration(scores, truth).temperature == pytest.approx(plain, rel=0.01)


def test_more_items_than_are_worked_on_at_a_time(monkeypatch):
    scores, truth = drawn(4)
    expected = temperature_calibration(scores, truth)
    monkeypatch.setattr(temperature, "CHUNK", 12)
    assert temperature_calibration(scores, truth) == pytest.approx(tuple(expected))


def test_whole_numbers_and_half_precision_are_scores_too():
    scores, truth = torch.tensor([[3, 1], [0, 2], [5, 4]]), torch.tensor([0, 1, 1])
    expected = tuple(temperature_calibration(scores.double(), truth))
    assert tuple(temperature_calibration(scores, truth)) == expected
    assert tuple(temperature_calibration(scores.half(), truth)) == expected


@pytest.mark.parametrize("value", [math.inf, -math.inf, 1e305])
def test_refuses_infinite_scores(value):
    scores = torch.tensor([[value, 0.0], [1.0, 0.0]], dtype=torch.double)
    with pytest.raises(
        ValueError, match="expected finite class_scores, got 1 that are infinite or nearly so"
    ):
        temperature_calibration(scores, torch.tensor([0, 0]))


def test_refuses_invalid_scores_and_truth():
    with pytest.raises(ValueError, match="expected numbers in class_scores, got 1 that are NaN"):
        temperature_calibration(torch.tensor([[math.nan, 0.0]]), torch.tensor([0]))
    with pytest.raises(ValueError, match="expected a truth of whole numbers from 0 to 1"):
        temperature_calibration(torch.zeros(1, 2), torch.tensor([2]))
    with pytest.raises(ValueError, match=r"expected class_scores \(n, classes\) and truth \(n,\)"):
        temperature_calibration(torch.zeros(2, 2), torch.tensor([0]))


def test_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(temperature)
    assert outcome.attempted > 0
    assert outcome.failed == 0

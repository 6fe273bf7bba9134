"""The measures that can be drawn again: weights of 1 give back what the room measures."""

import math
from typing import get_args

import numpy as np
import pytest
import torch

from samekind.measures import Interval, proportion_interval
from samekind.measures.costs import Costs
from samekind.measures.resampling import count_trials, curves
from samekind.measures.trial_statistics import (
    Statistic,
    Unseen,
    check_statistics,
    not_too_sure,
    value_of,
    values_of,
)

COSTS = Costs(0.2, 3.0, 1.0)
UNSEEN = Unseen(0.3, 0.4)


@pytest.mark.parametrize("name", get_args(Statistic))
@pytest.mark.parametrize("threshold", [-9.0, 0.25, 0.3, 9.0])
def test_weights_of_one_give_the_measure_itself(name, threshold):
    generator = torch.Generator().manual_seed(0)
    sides = torch.randint(4, (2, 400), generator=generator)
    same = sides[0] == sides[1]
    scores = ((torch.randn(400, generator=generator) + same) * 4).round() / 4
    result = count_trials(scores, same, sides, classes=4, threshold=threshold)
    [[curve]] = list(curves([result], np.ones((1, 4))))
    expected = value_of(name, scores, same, threshold, COSTS)
    assert values_of(name, curve, COSTS) == pytest.approx([expected])


def test_the_weights_of_the_costs():
    assert Costs(0.5, 1.0, 1.0).weights == (1, 1)
    assert Costs(0.01, 1.0, 1.0).weights == pytest.approx((1, 99))
    assert Costs(0.9, 10.0, 1.0).weights == pytest.approx((90, 1))


def test_intervals_are_clipped_to_their_range_and_not_too_narrow():
    same = torch.arange(100) < 20
    share = not_too_sure("FRR", Interval(0.5, 0.49, 0.51), same, COSTS, UNSEEN)
    assert share == (0.5, *proportion_interval(10, 20)[1:])
    wide = Interval(0.5, 0.01, 0.99)
    assert not_too_sure("FAR", wide, same, COSTS, UNSEEN) == wide
    assert not_too_sure("Cllr", Interval(0.5, -1.0, 2.0), same, COSTS, UNSEEN) == (0.5, 0.0, 2.0)
    assert not_too_sure("EER", wide, same, COSTS, UNSEEN) == wide


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("FAR", 0.0, (0, 0.3)),
        ("FAR", 1.0, (0.7, 1)),
        ("FRR", 0.0, (0, 0.4)),
        ("FRR", 1.0, (0.6, 1)),
        ("accuracy", 1.0, (1 - 0.3 * 0.8, 1)),  # 80 of 100 trials are of two classes
        ("EER", 0.0, (0, 0.4)),
        ("AUC", 1.0, (0.6, 1)),
        ("minDCF", 0.0, (0, 0.4 * (1 + 0.8 / 0.6))),
    ],
)
def test_without_errors_the_interval_is_that_of_one_error(name, value, expected):
    same = torch.arange(100) < 20
    result = not_too_sure(name, Interval(value, value, value), same, COSTS, UNSEEN)
    assert result == pytest.approx((value, *expected))
    rule_of_three = not_too_sure(name, Interval(value, value, value), same, COSTS, Unseen(0.0, 0.0))
    assert 0 < rule_of_three.half < result.half


@pytest.mark.parametrize("cost", [math.nan, math.inf, 0.0])
def test_refuses_invalid_costs(cost):
    with pytest.raises(ValueError, match="expected a false_accept_cost above 0"):
        check_statistics(["EER"], [None], Costs(0.5, 1.0, cost), 10)

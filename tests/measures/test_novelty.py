"""The AUROC of novelty and its interval, against the definition and against simulation."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from samekind.measures import novelty_auroc


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=12))
@effort(max_examples=40, deadline=None)
def test_the_value_is_that_of_scikit_learn_and_inside_its_interval(items):
    newness, is_new = (torch.tensor(value) for value in zip(*items, strict=True))
    if is_new.all() or not is_new.any():
        with pytest.raises(ValueError, match="both kinds"):
            novelty_auroc(newness, is_new)
        return
    result = novelty_auroc(newness, is_new)
    assert result.mean == pytest.approx(roc_auc_score(is_new.numpy(), newness.numpy()))
    assert 0 <= result.low <= result.mean <= result.high <= 1
    assert result.half > 0


def variance_by_hand(value, m, n):
    others = (m + n) / 2 - 1
    return (
        value
        * (1 - value)
        * (1 + others * (1 - value) / (2 - value) + others * value / (1 + value))
        / (m * n)
    )


def test_each_end_is_196_of_its_own_standard_errors_away():
    newness = torch.randn(40, generator=torch.Generator().manual_seed(0))
    is_new = torch.arange(40) < 15
    result = novelty_auroc(newness + 0.8 * is_new, is_new)
    for end in (result.low, result.high):
        assert abs(end - result.mean) == pytest.approx(1.96 * math.sqrt(variance_by_hand(end, 15, 25)))


def test_reversing_the_scores_mirrors_the_interval():
    newness = torch.tensor([3.0, 1.0, 2.0, 2.0, 0.0])
    is_new = torch.tensor([True, True, False, False, False])
    one, other = novelty_auroc(newness, is_new), novelty_auroc(-newness, is_new)
    assert (other.mean, other.low, other.high) == pytest.approx((1 - one.mean, 1 - one.high, 1 - one.low))


@pytest.mark.parametrize("shift", [0.0, 1.0, 2.0])
def test_the_interval_covers_the_truth_about_as_often_as_it_says(shift):
    """400 samples of 20 and 30 normal values, whose true AUROC is Φ(shift / √2)."""
    generator = torch.Generator().manual_seed(1)
    is_new, truth = torch.arange(50) < 20, norm.cdf(shift / math.sqrt(2))
    hits = 0
    for _ in range(400):
        result = novelty_auroc(torch.randn(50, generator=generator) + shift * is_new, is_new)
        hits += result.low <= truth <= result.high
    assert 0.92 <= hits / 400 <= 0.985

"""Intervals of means of what is drawn again: against Student's, and the promise that 95 % hold."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from samekind.measures import bootstrap_mean, paired_bootstrap_mean, student_interval

# --- means ------------------------------------------------------------------------------------------


@settings(max_examples=20)
@given(st.lists(st.integers(-40, 40), min_size=5, max_size=30))
def test_without_units_it_is_the_student_interval(numbers):
    """The bootstrap of a mean is known: its spread is the standard error, but for the luck of the draws."""
    values = [*map(float, numbers), 50.0]
    result, known = bootstrap_mean(values, replicates=4000), student_interval(values)
    assert result.mean == pytest.approx(known.mean)
    assert result.half == pytest.approx(known.half, rel=0.08)


def test_whole_units_are_drawn():
    """Values that repeat within a unit say no more than one of them."""
    values = torch.randn(12, generator=torch.Generator().manual_seed(0))
    units = torch.arange(12)
    once = bootstrap_mean(values, units=units)
    tenfold = bootstrap_mean(values.repeat(10), units=units.repeat(10))
    assert tenfold == pytest.approx(once)
    assert bootstrap_mean(values.repeat(10)).half < once.half / 2


def test_units_of_different_sizes_count_by_their_values():
    values, units = torch.tensor([1.0, 1.0, 1.0, 0.25]), torch.tensor([7, 7, 7, 2])
    draws = [(1.0, 3), (0.25, 1)]
    possible = {(a[0] * a[1] + b[0] * b[1]) / (a[1] + b[1]) for a in draws for b in draws}
    assert possible == {0.25, 0.8125, 1.0}
    odds = [math.log(value / (1 - value)) for value in (0.8125, 0.8125)]
    odds += [odds[0] - math.log(10), odds[0] + math.log(10)]  # no more than ten times worse, or better
    reach = stats.t.ppf(0.975, 1) * math.sqrt(2) * np.std(odds)
    result = bootstrap_mean(values, units=units, replicates=20_000)
    assert result.mean == 0.8125
    centre = math.log(0.8125 / 0.1875)
    assert math.log(result.low / (1 - result.low)) == pytest.approx(centre - reach, rel=0.02)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_share_without_exception_keeps_the_rule_of_three(value):
    interval = bootstrap_mean([value] * 100)
    assert interval.mean == value
    assert abs(interval.low - interval.high) == pytest.approx(0.0362, abs=1e-4)
    assert 0 <= interval.low <= interval.high <= 1


def test_a_share_without_exception_is_no_surer_than_one_exception_where_values_go_together():
    units = torch.arange(6).repeat_interleave(50)
    values = torch.zeros(300)
    none, every = (bootstrap_mean(value, units=units) for value in (values, 1 - values))
    values[0] = 1
    one = bootstrap_mean(values, units=units)
    assert none == pytest.approx((0, 0, one.high))
    assert every == pytest.approx((1, 1 - one.high, 1))
    assert none.high > 2 * bootstrap_mean(torch.zeros(300)).high
    alone = torch.arange(300)  # every value a unit of its own: nothing goes together
    assert bootstrap_mean(torch.zeros(300), units=alone) == bootstrap_mean(torch.zeros(300))


def test_equal_values_that_are_no_share_have_no_width():
    assert bootstrap_mean([3.0] * 4) == (3, 3, 3)
    assert bootstrap_mean([0.1] * 7) == pytest.approx((0.1, 0.1, 0.1))


def test_refuses_units_that_do_not_fit():
    with pytest.raises(ValueError, match=r"a unit for every value, got 3 values and units of shape \(2,\)"):
        bootstrap_mean([1.0, 2.0, 3.0], units=torch.tensor([0, 1]))
    with pytest.raises(ValueError, match="expected at least two units to estimate a spread, got one"):
        bootstrap_mean([1.0, 2.0], units=torch.tensor([4, 4]))
    with pytest.raises(ValueError, match="expected finite values, got 1 of 2"):
        bootstrap_mean([1.0, math.nan])


# --- two systems ------------------------------------------------------------------------------------


def test_the_p_value_is_below_a_twentieth_where_the_interval_leaves_out_nothing():
    generator = torch.Generator().manual_seed(0)
    below, leaves_out = [], []
    for seed in range(30):
        one, other = torch.randn(2, 15, generator=generator)
        result = paired_bootstrap_mean(one + seed / 30, other, seed=seed, replicates=100)
        below.append(result.p_value < 0.05)
        leaves_out.append(not result.interval.low <= 0 <= result.interval.high)
    assert below == leaves_out
    assert 0 < sum(below) < 30


def test_systems_that_always_differ_by_the_same_are_as_sure_as_so_many_coins():
    result = paired_bootstrap_mean([2.0, 3.0, 4.0], [1.0, 2.0, 3.0])
    assert (result.interval, result.p_value) == ((1, 1, 1), stats.binomtest(3, 3).pvalue)
    assert paired_bootstrap_mean([2.0, 3.0], [2.0, 3.0]).p_value == 1
    repeated = paired_bootstrap_mean([2.0] * 6, [1.0] * 6, units=torch.tensor([0, 0, 0, 1, 1, 1]))
    assert repeated.p_value == 0.5


@pytest.mark.parametrize("count", [2, 5, 6, 40])
def test_always_right_against_always_wrong_is_the_sign_test_with_its_interval(count):
    right, wrong = [1.0] * count, [0.0] * count
    result, mirrored = paired_bootstrap_mean(right, wrong), paired_bootstrap_mean(wrong, right)
    known = stats.binomtest(count, count)
    assert result.p_value == mirrored.p_value == pytest.approx(known.pvalue)
    low = 2 * known.proportion_ci(method="exact").low - 1
    assert result.interval == pytest.approx((1, low, 1))
    assert mirrored.interval == pytest.approx((-1, -1, -low))
    assert (result.p_value < 0.05) == (result.interval.low > 0) == (count > 5)


def test_two_equally_good_systems_seldom_differ_clearly_however_few_items():
    generator = torch.Generator().manual_seed(0)
    for count in (2, 3, 4):
        answers = torch.randint(2, (200, 2, count), generator=generator).double()
        values = [paired_bootstrap_mean(*pair, replicates=50).p_value for pair in answers]
        assert sum(value < 0.05 for value in values) <= 0.05 * len(values)


def test_refuses_different_numbers_of_values():
    with pytest.raises(ValueError, match="as many values as others, got 3 and 2"):
        paired_bootstrap_mean([1.0, 2.0, 3.0], [1.0, 2.0])


# --- and what is promised holds ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("classes", [10, 30])
@pytest.mark.parametrize("is_share", [False, True])
def test_of_many_intervals_about_95_in_100_hold_the_truth(classes, is_share):
    """Values of a class lie around its own centre, or have its own chance of being 1."""
    generator = torch.Generator().manual_seed(1)
    held = 0
    for seed in range(400):
        centres = torch.rand(classes, 1, generator=generator)
        noise = torch.rand(classes, 6, generator=generator)
        values = (noise < 0.1 + 0.3 * centres).double() if is_share else 3 * centres + noise
        units = torch.arange(classes).repeat_interleave(6)
        result = bootstrap_mean(values.flatten(), units=units, replicates=200, seed=seed)
        held += result.low <= (0.25 if is_share else 2.0) <= result.high
    assert 0.92 <= held / 400 <= 0.985


@pytest.mark.parametrize("replicates", [0, 1])
def test_refuses_a_single_replicate(replicates):
    message = f"expected two replicates or more to estimate a spread, got {replicates}"
    with pytest.raises(ValueError, match=message):
        bootstrap_mean([0.0, 1.0, 0.5], replicates=replicates)
    with pytest.raises(ValueError, match=message):
        paired_bootstrap_mean([0.0, 1.0], [1.0, 1.0], replicates=replicates)

"""Intervals against the printed tables, scipy, and the promise that 95 % of them hold."""

import doctest
import math
import statistics

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from samekind.measures import (
    Interval,
    intervals,
    normal_interval,
    paired_difference,
    proportion_interval,
    student_interval,
)

# The 97.5 % quantile of Student's t by degrees of freedom, as the tables print it.
STUDENT = {1: 12.706, 2: 4.303, 4: 2.776, 9: 2.262, 30: 2.042}
values = st.lists(st.integers(-1000, 1000).map(lambda n: n / 16), min_size=2, max_size=20)


@settings(max_examples=40)
@given(values)
def test_agree_with_the_definitions(numbers):
    many, few = normal_interval(numbers), student_interval(numbers)
    root = math.sqrt(len(numbers))
    assert many.mean == few.mean == pytest.approx(statistics.mean(numbers), abs=1e-9)
    assert many.half == pytest.approx(1.96 * statistics.pstdev(numbers) / root, abs=1e-9)
    quantile = stats.t.ppf(0.975, len(numbers) - 1)
    assert few.half == pytest.approx(quantile * statistics.stdev(numbers) / root, abs=1e-9)
    assert many.half <= few.half


@pytest.mark.parametrize("freedom", STUDENT)
def test_student_agrees_with_the_printed_table(freedom):
    numbers = [float(number) for number in range(freedom + 1)]
    error = statistics.stdev(numbers) / math.sqrt(len(numbers))
    assert student_interval(numbers).half / error == pytest.approx(STUDENT[freedom], abs=5e-4)


@pytest.mark.parametrize("measure", [normal_interval, student_interval])
def test_the_mean_lies_in_the_middle(measure):
    interval = measure(torch.tensor([1.0, 2.0, 6.0]))
    assert interval.mean == 3
    assert interval.high - interval.mean == pytest.approx(interval.mean - interval.low)
    assert interval.half == pytest.approx(interval.high - interval.mean)
    assert interval.low < interval.high


def test_half_is_half_the_width():
    assert Interval(mean=0.5, low=0.25, high=0.75).half == 0.25


def test_of_many_student_intervals_of_three_seeds_95_in_100_hold_the_truth():
    draws = torch.randn(2000, 3, generator=torch.Generator().manual_seed(0)) + 5
    result = [student_interval(three) for three in draws]
    held = sum(interval.low <= 5 <= interval.high for interval in result) / len(result)
    assert held == pytest.approx(0.95, abs=0.02)


def test_equal_values_have_no_width():
    assert normal_interval([0.5] * 4) == (0.5, 0.5, 0.5)
    assert student_interval([0.5] * 4) == (0.5, 0.5, 0.5)


def test_refuses_a_single_value():
    assert normal_interval([0.5]) == (0.5, 0.5, 0.5)
    with pytest.raises(ValueError, match=r"expected at least two values .* got one"):
        student_interval([0.5])
    with pytest.raises(ValueError, match=r"expected at least two values .* got one"):
        paired_difference([0.5], [0.25])


def test_computes_in_float64_whatever_comes():
    numbers = torch.tensor([1e8, 1e8 + 8, 1e8 + 16])
    assert student_interval(numbers).mean == 1e8 + 8
    assert student_interval(numbers.int()).mean == 1e8 + 8


@settings(max_examples=30)
@given(values, st.integers(-10, 10))
def test_a_paired_difference_is_the_interval_of_the_differences(numbers, shift):
    second = list(reversed(numbers))
    first = [number + shift for number in numbers]
    expected = student_interval([a - b for a, b in zip(first, second, strict=True)])
    assert paired_difference(first, second) == pytest.approx(expected, abs=1e-9)
    assert paired_difference(second, first).mean == pytest.approx(-expected.mean, abs=1e-9)


def test_pairing_cancels_what_the_pairs_share():
    seeds = torch.tensor([0.2, 0.5, 0.9], dtype=torch.double)
    assert paired_difference(seeds + 0.1, seeds) == pytest.approx((0.1, 0.1, 0.1))


def test_refuses_unequal_lengths():
    with pytest.raises(ValueError, match="as many values in first as in second, got 3 and 2"):
        paired_difference([1.0, 2.0, 3.0], [1.0, 2.0])


@pytest.mark.parametrize("measure", [normal_interval, student_interval])
def test_refuses_empty_and_nan_values(measure):
    with pytest.raises(ValueError, match="expected finite values, got 2 of 3"):
        measure([1.0, math.nan, math.inf])
    with pytest.raises(ValueError, match=r"of shape \(n,\), at least one, got shape \(2, 2\)"):
        measure(torch.rand(2, 2))


# --- shares -----------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.integers(1, 400), st.floats(0, 1), st.sampled_from(["exact", "wilson"]))
def test_shares_agree_with_scipy(trials, share, form):
    hits = round(share * trials)
    known = stats.binomtest(hits, trials).proportion_ci(0.95, method=form)
    result = proportion_interval(hits, trials, form=form)
    assert result == pytest.approx((hits / trials, known.low, known.high), abs=1e-9)
    assert 0 <= result.low <= result.mean <= result.high <= 1


@pytest.mark.parametrize("trials", [30, 1000, 10**6])
def test_the_rule_of_three(trials):
    """With no hit among n, a share of 3 / n would have shown itself 95 times in 100."""
    assert (1 - 3 / trials) ** trials == pytest.approx(0.05, rel=0.2)
    assert proportion_interval(0, trials).high == pytest.approx(-math.log(0.025) / trials, rel=0.07)
    assert proportion_interval(trials, trials).low == pytest.approx(1 - proportion_interval(0, trials).high)


@pytest.mark.parametrize(("hits", "trials"), [(0, 0), (-1, 3), (4, 3)])
def test_refuses_invalid_counts(hits, trials):
    with pytest.raises(ValueError, match=f"got {hits} of {trials}"):
        proportion_interval(hits, trials)


def test_refuses_an_unknown_form():
    with pytest.raises(ValueError, match='expected the form "exact" or "wilson", got "normal"'):
        proportion_interval(1, 3, form="normal")


def test_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(intervals)
    assert outcome.attempted > 0
    assert outcome.failed == 0

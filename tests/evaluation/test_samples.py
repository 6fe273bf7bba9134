"""Values and replicates made rows, and pairs of them made differences."""

import math
import statistics

import pytest
import torch

from samekind.evaluation.samples import Compared, Sample, compared, computed_sample, difference, rows_of

VALUES = torch.tensor([0.0, 0.25, 0.5, 1.0] * 10, dtype=torch.double)


def a_sample(values=None, replicates=None, *, value=None, unit="items"):
    value = float(values.mean()) if value is None else value
    units = 40 if replicates is not None else 0
    return Sample("question", "seen", "measure", "kind", unit, value, values, replicates, units)


def row_of(sample):
    return rows_of([sample])[0]


def replicates_of(compute, seed):
    return computed_sample("question", "seen", "measure", "kind", compute, 6, seed=seed).replicates


def test_a_mean_has_an_interval_about_as_wide_as_the_theory_says():
    row = row_of(a_sample(VALUES))
    half = 2.02 * statistics.stdev(VALUES.tolist()) / math.sqrt(40)
    assert row[:5] == ("question", "seen", "measure", "kind", pytest.approx(0.4375))
    assert (row.high - row.low) / 2 == pytest.approx(half, rel=0.1)
    assert row.unit == "items"


def test_replicates_give_the_width_and_the_value_the_place():
    """Their own mean is off where a measure depends on what is drawn twice."""
    replicates = 0.6 + 0.02 * torch.randn(2000, generator=torch.Generator().manual_seed(0)).double()
    row = row_of(a_sample(replicates=replicates, value=0.5))
    assert row.low == pytest.approx(0.5 - 2.02 * 0.02, abs=0.005)
    assert row.high == pytest.approx(0.5 + 2.02 * 0.02, abs=0.005)


def test_a_measure_below_zero_keeps_its_place():
    replicates = 0.1 * torch.randn(500, generator=torch.Generator().manual_seed(0)).double()
    row = row_of(a_sample(replicates=replicates, value=-0.02))
    assert row.low < -0.1 < -0.02 < row.high


@pytest.mark.parametrize(
    "sample",
    [
        a_sample(torch.tensor([0.5])),
        a_sample(torch.full((9,), 0.5), unit="episodes"),
        a_sample(replicates=torch.ones(9, dtype=torch.double), value=1.0),
        a_sample(value=0.5),
    ],
    ids=["one unit", "no spread", "no mistake", "nothing known"],
)
def test_no_interval_without_spread(sample):
    assert row_of(sample)[5:] == (None, None, "", "")


def test_a_share_without_a_miss_is_not_certain():
    row = row_of(a_sample(torch.ones(100)))
    assert row.value == row.high == 1
    assert 0.95 < row.low < 0.98


def test_replicates_draw_as_many_units_with_replacement_by_the_seed():
    seen = []
    replicates_of(lambda indices: seen.append(indices.tolist()) or 0.0, 0)
    assert seen.pop() == list(range(6))  # the value itself
    assert len(seen) == 200
    assert all(len(draw) == 6 and set(draw) <= set(range(6)) for draw in seen)
    assert any(len(set(value)) < 6 for value in seen)
    again, other = (replicates_of(lambda indices: float(indices[0]), seed) for seed in (0, 1))
    assert again.tolist() == [entry[0] for entry in seen]
    assert not torch.equal(again, other)


def test_what_two_systems_share_cancels():
    """Hard units are hard for both: the difference is sure though neither value is."""
    better = VALUES * 0.9 + 0.05
    both = compared(a_sample(better), a_sample(VALUES * 0.9))
    assert both[4:7] == (pytest.approx(0.44375), pytest.approx(0.39375), pytest.approx(0.05))
    # Each by itself is less sure than the whole difference.
    assert row_of(a_sample(better)).low < row_of(a_sample(VALUES * 0.9)).value
    noisy = better + torch.linspace(-0.01, 0.01, 40).double()
    result = compared(a_sample(noisy), a_sample(VALUES * 0.9))
    assert 0.04 < result.low < 0.05 < result.high < 0.06
    assert result.p_value < 0.001
    assert result.unit == "items"


def test_replicates_of_the_same_draws_are_paired():
    shared = torch.randn(300, generator=torch.Generator().manual_seed(0)).double()
    small = 0.01 * torch.randn(300, generator=torch.Generator().manual_seed(1)).double()
    first = a_sample(replicates=0.5 + shared + small, value=0.55)
    result = compared(first, a_sample(replicates=0.5 + shared, value=0.5))
    assert result.low == pytest.approx(0.05 - 2.02 * 0.01, abs=0.005)
    assert result.p_value < 0.01


def test_equal_answers_have_no_interval_and_no_evidence():
    result = compared(a_sample(VALUES), a_sample(VALUES))
    assert result == Compared("question", "seen", "measure", "kind", 0.4375, 0.4375, 0.0, None, None, 1.0, "")


def test_too_few_units_have_no_p_value():
    result = compared(a_sample(torch.tensor([1.0])), a_sample(torch.tensor([0.0])))
    assert result[6:] == (1.0, None, None, None, "")


def test_a_difference_is_the_first_less_the_second():
    result = difference(("q", "i", "m", "k"), (0.25, 0.75), (-0.6, -0.4), 0.01, "classes")
    assert result == Compared("q", "i", "m", "k", 0.25, 0.75, -0.5, -0.6, -0.4, 0.01, "classes")


@pytest.mark.parametrize(
    ("measure", "values", "text"),
    [
        ("Recall@1", (0.91, 0.97, -0.06, -0.08, -0.04), "-6.00 (-8.0 to -4.0)"),
        ("MAP@R", (0.5, 0.5, 0.0, None, None), "+0.00"),
        ("NMI", (0.9, 0.8, 0.1, 0.05, 0.15), "+0.100 (+0.05 to +0.15)"),
    ],
)
def test_a_difference_has_its_sign(measure, values, text):
    assert Compared("q", "seen", measure, "cosine", *values, 0.01, "items").text == text

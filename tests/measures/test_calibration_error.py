"""Calibration errors against a loop anyone can check by eye."""

import doctest
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.measures import calibration_error, expected_calibration_error, maximum_calibration_error


def gaps_by_hand(probabilities, truth, bins):
    """Confidences sorted into bins (low, high] one item at a time; the gap and the size of each."""
    result = {}
    for row, right in zip(probabilities.tolist(), truth.tolist(), strict=True):
        confidence = max(row)
        result.setdefault(math.ceil(confidence * bins), []).append(
            (confidence, row.index(confidence) == right)
        )
    return [
        (abs(sum(c for c, _ in value) / len(value) - sum(r for _, r in value) / len(value)), len(value))
        for value in result.values()
    ]


@settings(max_examples=30)
@given(st.integers(0, 1000), st.integers(1, 30), st.sampled_from([1, 2, 10, 15]))
def test_agree_with_the_definition(seed, items, bins):
    generator = torch.Generator().manual_seed(seed)
    probabilities = torch.randn(items, 3, generator=generator, dtype=torch.double).mul(2).softmax(1)
    truth = torch.randint(3, (items,), generator=generator)
    gaps = gaps_by_hand(probabilities, truth, bins)
    expected = sum(gap * size for gap, size in gaps) / items
    assert expected_calibration_error(probabilities, truth, bins=bins) == pytest.approx(expected)
    largest = max(gap for gap, _ in gaps)
    assert maximum_calibration_error(probabilities, truth, bins=bins) == pytest.approx(largest)


def test_certain_and_always_wrong_is_1_and_certain_and_right_is_0():
    certain = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    for measure in (expected_calibration_error, maximum_calibration_error):
        assert measure(certain, torch.tensor([1, 1])) == 1
        assert measure(certain, torch.tensor([0, 0])) == 0


def test_one_bad_bin_is_the_maximum_and_a_part_of_the_mean():
    probabilities = torch.tensor([[1.0, 0.0]] * 3 + [[0.6, 0.4]], dtype=torch.double)
    truth = torch.tensor([0, 0, 0, 1])
    assert maximum_calibration_error(probabilities, truth) == pytest.approx(0.6)
    assert expected_calibration_error(probabilities, truth) == pytest.approx(0.15)


def test_an_edge_belongs_to_the_bin_below():
    """In one bin the two errors would partly cancel, and 0.125 would be left."""
    probabilities = torch.tensor([[0.5, 0.25, 0.25], [0.75, 0.25, 0.0]])
    assert expected_calibration_error(probabilities, torch.tensor([1, 0]), bins=2) == pytest.approx(0.375)


@pytest.mark.parametrize("measure", [expected_calibration_error, maximum_calibration_error])
def test_refuses_invalid_probabilities(measure):
    with pytest.raises(ValueError, match=r"expected probabilities that sum to 1, got .* take softmax"):
        measure(torch.tensor([[2.0, 1.0]]), torch.tensor([0]))
    with pytest.raises(ValueError, match="expected numbers in probabilities, got 1 that are NaN"):
        measure(torch.tensor([[torch.nan, 1.0]]), torch.tensor([0]))
    with pytest.raises(ValueError, match="expected a truth of whole numbers from 0 to 1"):
        measure(torch.tensor([[0.5, 0.5]]), torch.tensor([2]))
    with pytest.raises(ValueError, match="expected at least one bin, got 0"):
        measure(torch.tensor([[0.5, 0.5]]), torch.tensor([0]), bins=0)


def test_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(calibration_error)
    assert outcome.attempted > 0
    assert outcome.failed == 0

"""Checks that several measures share."""

import pytest
import torch

from samekind.measures.checks import check_finite, check_labels


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int32, torch.int64])
def test_whole_numbers_of_one_length_pass(dtype):
    check_labels(torch.tensor([0, 1]).to(dtype), torch.tensor([1, 1]), name="predicted")


@pytest.mark.parametrize(
    ("given", "truth", "message"),
    [
        ([0, 1], [0], r"expected groups and truth of one shape \(n,\), got \(2,\) and \(1,\)"),
        ([[0], [1]], [[0], [1]], r"got \(2, 1\) and \(2, 1\)"),
        ([0.0, 1.0], [0, 1], "expected whole numbers in groups, got torch.float32"),
        ([0, 1], [0.0, 1.0], "expected whole numbers in truth, got torch.float32"),
        ([0, 1], [0j, 1j], "expected whole numbers in truth, got torch.complex64"),
    ],
)
def test_refuses_other_labels(given, truth, message):
    with pytest.raises(ValueError, match=message):
        check_labels(torch.tensor(given), torch.tensor(truth), name="groups")


@pytest.mark.parametrize("values", [[1.0, torch.nan], [[torch.inf], [1.0]]])
def test_refuses_values_that_are_not_finite(values):
    check_finite(torch.ones(2), "values")
    with pytest.raises(ValueError, match="expected finite values, got 1 of 2 that are NaN or infinite"):
        check_finite(torch.tensor(values), "values")


def test_refuses_empty_labels():
    nothing = torch.zeros(0, dtype=torch.long)
    with pytest.raises(ValueError, match="expected at least one item, got empty groups and truth"):
        check_labels(nothing, nothing, name="groups")

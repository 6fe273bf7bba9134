"""Valid inputs: ranges, whole numbers and fixed columns."""

import pytest
import torch

from samekind.attacks import PICTURES, Limits, column_limits
from samekind.errors import DataError

CLEAN = torch.tensor([[3.0, 0.5, 7.0]])
TABLE = Limits(
    torch.tensor([0.0, 0.0, 5.0]),
    torch.tensor([5.0, 1.0, 9.0]),
    integer=torch.tensor([True, False, False]),
    fixed=torch.tensor([False, False, True]),
)


def test_whole_numbers_are_rounded_towards_the_item_and_fixed_ones_stay():
    assert TABLE.clip(torch.tensor([[4.9, 1.7, 8.0]]), CLEAN).tolist() == [[4.0, 1.0, 7.0]]
    assert TABLE.clip(torch.tensor([[1.1, -0.1, 8.0]]), CLEAN).tolist() == [[2.0, 0.0, 7.0]]
    assert TABLE.bound(torch.tensor([[4.5, 0.1, 8.0]]), CLEAN).tolist() == [[4.5, pytest.approx(0.1), 7.0]]


def test_columns_have_the_range_of_their_rows():
    limits = column_limits(torch.tensor([[1.0, -2.0], [3.0, 5.0]]))
    assert limits.low.tolist() == [1, -2]
    assert limits.high.tolist() == [3, 5]


def test_no_limits_change_nothing():
    x = torch.tensor([[1e9, -1e9]])
    assert torch.equal(Limits().clip(x, x * 0), x)


@pytest.mark.parametrize(
    ("limits", "x", "message"),
    [
        (PICTURES, torch.tensor([[1, 0]]), "as floats"),
        (PICTURES, torch.tensor([[0.1, float("nan")]]), "not finite"),
        (PICTURES, torch.tensor([[0.1, 1.5]]), "outside the limits"),
        (TABLE, torch.tensor([[2.5, 0.5, 7.0]]), "whole numbers"),
    ],
)
def test_invalid_items_are_refused(limits, x, message):
    with pytest.raises(DataError, match=message):
        limits.expect(x)

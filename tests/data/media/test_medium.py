"""Bytes become numbers from 0 to 1; numbers stay what they are."""

import pytest
import torch

from samekind.data import scaled


def test_bytes_are_divided_by_255():
    every = torch.arange(256, dtype=torch.uint8).reshape(1, 16, 16)
    by_hand = torch.tensor([value / 255 for value in range(256)]).reshape(1, 16, 16)
    assert scaled(every).dtype == torch.float32
    assert torch.equal(scaled(every), by_hand)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_floats_are_unchanged(dtype):
    x = torch.tensor([-3.0, 0.0, 700.0], dtype=dtype)
    assert scaled(x) is x


def test_an_empty_batch_is_scaled():
    assert scaled(torch.empty(0, 1, 2, 2, dtype=torch.uint8)).shape == (0, 1, 2, 2)

"""Weights that are NaN or infinite are found, part by part."""

import pytest
import torch
from torch import nn

from samekind.training.finite import not_finite


@pytest.mark.parametrize("broken", [torch.nan, torch.inf, -torch.inf])
def test_the_part_with_a_broken_weight_is_named(broken):
    parts = {"first": nn.Linear(3, 2), "empty": nn.ReLU(), "second": nn.Linear(2, 2)}
    assert not_finite(parts) == []
    with torch.no_grad():
        parts["second"].bias[1] = broken
    assert not_finite(parts) == ["second"]
    assert not_finite({"empty": nn.ReLU()}) == []

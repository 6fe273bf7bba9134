"""Items as they are."""

import pytest
import torch

from samekind.encoders import Unchanged
from samekind.errors import DataError, SettingError


def test_items_are_flattened_and_nothing_else():
    x = torch.rand(2, 1, 2, 3)
    assert torch.equal(Unchanged(inputs=6)(x), x.reshape(2, 6))
    with pytest.raises(DataError, match=r"takes items of 6 numbers; got \(2, 5\)"):
        Unchanged(inputs=6)(torch.rand(2, 5))
    with pytest.raises(SettingError, match="got 0"):
        Unchanged(inputs=0)

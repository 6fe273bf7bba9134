"""Shuffled batches hold every item once, and never an item alone."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.errors import DataError, SettingError
from samekind.samplers import Shuffled


@settings(max_examples=60)
@given(items=st.integers(2, 40), size=st.integers(2, 45), epoch=st.integers(0, 9))
def test_every_item_is_in_one_batch(items, size, epoch):
    sampler = Shuffled(torch.zeros(items, dtype=torch.int64), size=size, seed=0)
    batches = sampler.batches(epoch)
    assert sorted(torch.cat(batches).tolist()) == list(range(items))
    assert len(batches) == len(sampler)
    assert min(len(batch) for batch in batches) >= 2


@pytest.mark.parametrize(
    ("items", "sizes"),
    [(8, [4, 4]), (10, [4, 4, 2]), (9, [4, 5]), (5, [5]), (4, [4]), (3, [3]), (2, [2])],
)
def test_a_last_item_joins_the_batch_before(items, sizes):
    sampler = Shuffled(torch.zeros(items, dtype=torch.int64), size=4, seed=0)
    assert [len(batch) for batch in sampler.batches(0)] == sizes


def test_refuses_batches_without_a_pair():
    with pytest.raises(SettingError, match="got size 1"):
        Shuffled(torch.tensor([0, 1]), size=1, seed=0)
    with pytest.raises(DataError, match="got 1"):
        Shuffled(torch.tensor([0]), seed=0)

"""Balanced batches: P classes x K items, dealt evenly."""

from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.errors import SettingError
from samekind.samplers import Balanced


def labels_of(*counts):
    return torch.tensor(
        [label for label, count in enumerate(counts) for _ in range(count)], dtype=torch.int64
    )


@settings(max_examples=40)
@given(
    counts=st.lists(st.integers(3, 12), min_size=2, max_size=7),
    classes=st.integers(1, 7),
    items=st.integers(1, 3),
    epoch=st.integers(0, 5),
)
def test_every_batch_has_p_classes_of_k_items_and_classes_come_evenly(counts, classes, items, epoch):
    classes = min(classes, len(counts))
    labels = labels_of(*counts)
    sampler = Balanced(labels, classes=classes, items=items, seed=1)
    used = Counter(dict.fromkeys(range(len(counts)), 0))
    for batch in sampler.batches(epoch):
        assert len(set(batch.tolist())) == len(batch)
        in_batch = Counter(labels[batch].tolist())
        assert len(in_batch) == classes
        assert set(in_batch.values()) == {items}
        used.update(in_batch.keys())
    assert max(used.values()) - min(used.values()) <= 1


def test_items_of_a_class_all_come_before_any_comes_again():
    labels = labels_of(5, 5)
    seen = torch.cat(Balanced(labels, classes=2, items=2, seed=0).batches(0))
    assert len(seen) == 8  # 4 of each 5
    assert len(seen.unique()) == 8


def test_an_epoch_is_one_pass():
    assert len(Balanced(labels_of(*[7] * 10), classes=4, items=2, seed=0)) == 70 // 8
    assert len(Balanced(labels_of(2, 2), classes=1, items=2, seed=0)) == 2


def test_there_is_a_batch_even_if_it_takes_every_item():
    sampler = Balanced(labels_of(4, 4, 4), classes=3, items=4, seed=0)
    assert [sorted(batch.tolist()) for batch in sampler.batches(0)] == [list(range(12))]


def test_labels_need_not_be_consecutive():
    labels = torch.tensor([5, 9, 5, 9, 2, 2])
    (batch, *_) = Balanced(labels, classes=3, items=2, seed=0).batches(0)
    assert sorted(labels[batch].tolist()) == [2, 2, 5, 5, 9, 9]


def test_names_the_classes_that_are_too_small():
    with pytest.raises(SettingError, match=r"4 items of a class.*fewer: owl \(3\), kite \(2\)\."):
        Balanced(labels_of(4, 3, 5, 2), classes=2, items=4, seed=0, names=["wren", "owl", "gull", "kite"])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"classes": 3}, "batches of 3 classes need as many; the items are of 2"),
        ({"classes": 0}, "got 0 and 4"),
        ({"classes": 2, "items": 0}, "got 2 and 0"),
    ],
)
def test_refuses_impossible_settings(wrong, says):
    with pytest.raises(SettingError, match=says):
        Balanced(labels_of(9, 9), **wrong, seed=0)

"""Tuples: the definition checked group by group."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.errors import SettingError
from samekind.samplers import Tuples


def labels_of(*counts):
    return torch.tensor(
        [label for label, count in enumerate(counts) for _ in range(count)], dtype=torch.int64
    )


@settings(max_examples=60)
@given(
    counts=st.lists(st.integers(1, 13), min_size=1, max_size=6),
    tuples=st.integers(1, 6),
    size=st.integers(2, 5),
    epoch=st.integers(0, 5),
)
def test_a_batch_is_made_of_groups_of_one_class(counts, tuples, size, epoch):
    counts = [*counts, size, 2]  # so that there are two classes to show
    labels = labels_of(*counts)
    sampler = Tuples(labels, tuples=tuples, size=size, seed=2)
    batches = sampler.batches(epoch)
    assert len(batches) == len(sampler)
    groups = [group for batch in batches for group in cut(batch.tolist(), counts, size)]
    assert all(len({int(labels[index]) for index in group}) == 1 for group in groups)
    drawn = [index for group in groups for index in group]
    assert len(set(drawn)) == len(drawn)
    every = sum(count // size if count >= size else count > 1 for count in counts)
    left = every % tuples
    dropped = 1 if left == 1 and every > 1 and tuples > 1 else 0
    assert len(groups) == every - dropped


def cut(batch, counts, size):
    """A batch as tuples: each as long as the class of its first item allows."""
    sizes = [min(count, size) for count in counts for _ in range(count)]
    groups = []
    while batch:
        length = sizes[batch[0]]
        groups.append(batch[:length])
        batch = batch[length:]
    assert all(len(group) == sizes[group[0]] for group in groups)
    return groups


def test_a_class_smaller_than_a_tuple_is_shown_whole():
    """A long tail is no reason to be left out; a single item has no positive."""
    labels = labels_of(9, 3, 2, 1)
    for epoch in range(5):
        drawn = torch.cat(Tuples(labels, tuples=2, size=4, seed=0).batches(epoch))
        assert labels[drawn].bincount(minlength=4).tolist() == [8, 3, 2, 0]


def test_large_classes_are_cut_as_ever():
    """The batches that trained the spaces of the tables, written down before classes could be short."""
    first, second = Tuples(labels_of(5, 4), tuples=2, size=2, seed=0).batches(1)
    assert (first.tolist(), second.tolist()) == ([4, 0, 1, 3], [6, 8, 5, 7])


@pytest.mark.parametrize(
    ("groups", "sizes"), [(2, [2]), (3, [3]), (4, [3]), (5, [3, 2]), (6, [3, 3]), (7, [3, 3])]
)
def test_a_last_tuple_alone_is_dropped(groups, sizes):
    batches = Tuples(labels_of(*[2] * groups), tuples=3, size=2, seed=0).batches(0)
    assert [len(batch) // 2 for batch in batches] == sizes


def test_the_rest_changes_from_epoch_to_epoch():
    sampler = Tuples(labels_of(6, 6), tuples=2, size=5, seed=0)
    left = [set(range(12)) - set(torch.cat(sampler.batches(epoch)).tolist()) for epoch in range(30)]
    assert all(len(part) == 2 for part in left)
    assert set().union(*left) == set(range(12))


def test_two_tuples_of_one_class_can_meet():
    labels = labels_of(10, 10)
    met = [
        len(labels[batch].unique())
        for epoch in range(20)
        for batch in Tuples(labels, tuples=2, seed=0).batches(epoch)
    ]
    assert set(met) == {1, 2}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"size": 1}, "got 24 and 1"),
        ({"tuples": 0}, "got 0 and 5"),
    ],
)
def test_refuses_impossible_settings(wrong, says):
    with pytest.raises(SettingError, match=says):
        Tuples(labels_of(9, 4), **wrong, seed=0)


def test_no_class_need_be_as_large_as_a_tuple():
    (batch,) = Tuples(labels_of(4, 4, 4), size=5, seed=0).batches(0)
    assert sorted(batch.tolist()) == list(range(12))


@pytest.mark.parametrize(
    ("counts", "says"), [((), "there are 0"), ((1, 1, 1), "there are 0"), ((9, 1, 1), "there is 1")]
)
def test_refuses_fewer_than_two_usable_classes(counts, says):
    with pytest.raises(SettingError, match=f"two classes of two items or more, .*; {says}"):
        Tuples(labels_of(*counts), seed=0)
    Tuples(labels_of(*counts, 2, 2), seed=0)

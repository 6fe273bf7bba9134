"""Fewer items: as many as asked for, of every class its due, the same by the same seed."""

import doctest

import pytest
import torch

from samekind.data import Items, digits, draw, drawing
from samekind.data.drawing import at_most
from samekind.errors import SettingError


def items_of(sizes):
    labels = torch.cat([torch.full((size,), label) for label, size in enumerate(sizes)])
    names = tuple(str(label) for label in range(len(sizes)))
    return Items(torch.arange(len(labels), dtype=torch.float32)[:, None], labels, names, "made")


def counts(items):
    return torch.bincount(items.labels, minlength=len(items.classes)).tolist()


def test_few_classes_share_the_places_equally():
    assert counts(draw(items_of([50, 80, 500]), most=60)) == [20, 20, 20]


def test_the_places_a_small_class_leaves_are_filled():
    drawn = counts(draw(items_of([5, 80, 500]), most=60))
    assert drawn[0] == 5
    assert min(drawn[1:]) >= 20
    assert sum(drawn) == 60


def test_of_many_classes_some_are_kept_whole():
    drawn = counts(draw(items_of([5] * 400), most=100))
    assert sum(drawn) == 100
    assert set(drawn) == {0, 5}


@pytest.mark.parametrize("most", [3, 4, 10, 15, 19])
def test_however_few_there_are_pairs_of_one_class_and_of_two(most):
    for seed in range(5):
        drawn = counts(draw(digits(), most=most, seed=seed))
        assert sum(drawn) == most
        assert max(drawn) >= 2
        assert sum(draw > 0 for draw in drawn) >= 2


def test_the_seed_decides_and_the_order_stays():
    items = digits()
    one, again, other = (draw(items, most=200, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(one.inputs, again.inputs)
    assert not torch.equal(one.inputs, other.inputs)
    places = draw(items_of([50, 80]), most=30).inputs.flatten()
    assert torch.equal(places, places.sort().values)
    assert len(places.unique()) == 30


def test_without_balance_every_item_has_the_same_chance():
    items = items_of([5, 500])
    drawn = draw(items, most=101, seed=3, balanced=False)
    assert counts(drawn)[0] < 10 < counts(draw(items, most=101, seed=3))[1]
    assert torch.equal(drawn.inputs.flatten().long(), at_most(505, 101, seed=3))


def test_places_are_drawn_once_each_in_order():
    places = at_most(100, 30, seed=1)
    assert len(places.unique()) == 30
    assert torch.equal(places, places.sort().values)
    assert at_most(3, 30).tolist() == [0, 1, 2]


def test_doctests():
    assert doctest.testmod(drawing).failed == 0


def test_a_small_set_is_returned_whole():
    items = items_of([3, 3])
    assert draw(items, most=6) is items


def test_refuses_fewer_than_two_items():
    with pytest.raises(SettingError, match="at least 2 items, to have a pair; got 1"):
        draw(items_of([3, 3]), most=1)

"""Uniform triplets: classes first, then items, with replacement."""

from collections import Counter

import pytest
import torch

from samekind.errors import SettingError
from samekind.samplers import UniformTriplets

# Classes of very different sizes, mixed, with numbers of any kind.
LABELS = torch.tensor([5] * 90 + [-1] * 3 + [2] + [7] * 6)[
    torch.randperm(100, generator=torch.Generator().manual_seed(0))
]


def triplets(steps=400, epoch=0, labels=LABELS):
    batches = UniformTriplets(labels, triplets=10, steps=steps, seed=0).batches(epoch)
    assert len(batches) == steps
    assert all(batch.shape == (30,) for batch in batches)
    return torch.cat(batches).reshape(-1, 3)


def test_anchor_and_positive_are_of_one_class_and_the_negative_of_another():
    anchor, positive, negative = LABELS[triplets()].T
    assert torch.equal(anchor, positive)
    assert (anchor != negative).all()


def test_every_class_and_every_other_class_is_as_likely():
    """4,000 triplets of 12 pairs of classes: 333 each, four standard deviations are 70."""
    drawn = Counter((anchor, negative) for anchor, _, negative in LABELS[triplets()].tolist())
    assert len(drawn) == 12
    assert all(263 < count < 403 for count in drawn.values())


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_items_of_a_class_are_as_likely(place):
    """About 1,000 of 4,000 for a class: of its 3 items 333 each, of its 6 items 167 each."""
    drawn = Counter(triplets()[:, place].tolist())
    three, six = ((label == LABELS).nonzero().flatten().tolist() for label in (-1, 7))
    assert all(253 < drawn[index] < 413 for index in three)
    assert all(107 < drawn[index] < 227 for index in six)
    assert len(drawn) == 100


def test_an_anchor_can_be_its_own_positive():
    drawn = triplets()
    of_three = drawn[LABELS[drawn[:, 0]] == -1]
    assert (of_three[:, 0] == of_three[:, 1]).float().mean().item() == pytest.approx(1 / 3, abs=0.06)


def test_a_class_of_one_item_will_do():
    assert set(map(tuple, triplets(labels=torch.tensor([0, 1])).tolist())) == {(0, 0, 1), (1, 1, 0)}


@pytest.mark.parametrize(
    ("labels", "arguments", "says"),
    [
        ([0, 0, 0], {}, "2 classes; the items are of 1"),
        ([], {}, "2 classes; the items are of 0"),
        ([0, 1], {"triplets": 0}, "got 0 and 1000"),
        ([0, 1], {"steps": 0}, "got 20 and 0"),
    ],
)
def test_refuses_impossible_settings(labels, arguments, says):
    with pytest.raises(SettingError, match=says):
        UniformTriplets(torch.tensor(labels).long(), **arguments, seed=0)

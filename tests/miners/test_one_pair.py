"""One pair of each class: what a row must be, and that every pair is as likely as any other."""

from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.miners import one_pair
from samekind.pairs import class_masks, pair_masks


def mined(labels, seed=0, order="both"):
    """The drawn (anchor, positive) pairs and the negatives of each row."""
    masks = pair_masks(torch.tensor(labels), order=order)
    scores = torch.zeros(len(labels), len(labels))
    generator = torch.Generator().manual_seed(seed)
    rows, positive, negative = one_pair(scores, *masks, generator=generator)
    assert (positive.sum(1) == 1).all()
    pairs = list(zip(rows.tolist(), positive.int().argmax(1).tolist(), strict=True))
    return pairs, [row.nonzero().flatten().tolist() for row in negative]


@settings(max_examples=40)
@given(seed=st.integers(0, 2**31), labels=st.lists(st.integers(0, 4), min_size=1, max_size=12))
@pytest.mark.parametrize("order", ["both", "one"])
def test_agrees_with_the_definition(order, seed, labels):
    pairs, negatives = mined(labels, seed, order)
    assert sorted(labels[anchor] for anchor, _ in pairs) == [
        label for label in sorted(set(labels)) if labels.count(label) > 1
    ]
    assert pairs == sorted(pairs)
    for (anchor, partner), rivals in zip(pairs, negatives, strict=True):
        assert labels[anchor] == labels[partner]
        assert anchor < partner if order == "one" else anchor != partner
        assert rivals == sorted(other for one, other in pairs if one != anchor)


def test_every_pair_of_a_class_is_as_likely():
    labels = [0, 1, 0, 1, 0, 2]
    drawn = Counter(pair for seed in range(600) for pair in mined(labels, seed)[0])
    ours = {pair: count for pair, count in drawn.items() if labels[pair[0]] == 0}
    assert set(ours) == {(a, b) for a in (0, 2, 4) for b in (0, 2, 4) if a != b}
    assert all(70 < count < 130 for count in ours.values())  # 100 each; the deviation is 9
    assert all(250 < drawn[pair] < 350 for pair in [(1, 3), (3, 1)])


def test_a_class_alone_has_a_pair_and_no_negatives():
    assert mined([0, 0, 1, 2])[1] == [[]]
    assert mined([0, 1, 2]) == ([], [])


def test_against_prototypes_the_other_classes_of_the_batch_are_the_negatives():
    masks = class_masks(torch.tensor([3, 1, 1, 3, 1]), 5)
    rows, positive, negative = one_pair(torch.zeros(5, 5), *masks, generator=torch.Generator().manual_seed(0))
    assert sorted(positive.int().argmax(1).tolist()) == [1, 3]
    assert negative.sum(1).tolist() == [1, 1]
    assert torch.equal(positive.flip(0), negative)
    assert all(masks[0][row, column] for row, column in zip(rows, positive.int().argmax(1), strict=True))

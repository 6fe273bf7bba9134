"""Semi-hard negatives against a loop over triplets, in distances as the paper has them."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.miners import semi_hard
from samekind.pairs import pair_masks
from samekind.similarities import Euclidean


def by_hand(distances, labels, margin):
    """All (anchor, positive, negative) with d(a, p) < d(a, n) < d(a, p) + margin."""
    items = range(len(labels))
    return {
        (a, p, n)
        for a in items
        for p in items
        for n in items
        if a != p and labels[a] == labels[p] != labels[n]
        if distances[a][p] < distances[a][n] < distances[a][p] + margin
    }


def mined(scores, labels, **arguments):
    """The triplets of the rows; each row has one positive and at least one negative."""
    rows, positive, negative = semi_hard(scores, *pair_masks(torch.tensor(labels)), **arguments)
    assert (positive.sum(1) == 1).all()
    assert (negative.sum(1) >= 1).all()
    pairs = list(zip(rows.tolist(), positive.int().argmax(1).tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    return {(*pairs[row], rival) for row, rival in negative.nonzero().tolist()}


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**31),
    labels=st.lists(st.integers(0, 2), min_size=2, max_size=8),
    margin=st.sampled_from([0.1, 0.5, 3.0]),
)
def test_agrees_with_the_definition(seed, labels, margin):
    z = torch.randn(len(labels), 3, dtype=torch.double, generator=torch.Generator().manual_seed(seed))
    scores = Euclidean().score_all(z, z)
    assert mined(scores, labels, margin=margin) == by_hand((-scores).tolist(), labels, margin)


def test_neither_nearer_nor_beyond_nor_at_either_end():
    """The positive is at distance 1, the negatives at 0.5, 1, 1.25, 1.5 and 2; the margin is half."""
    scores = -torch.tensor([[1.0, 0.5, 1.0, 1.25, 1.5, 2.0]])
    positive = torch.tensor([[True] + [False] * 5])
    rows, ahead, behind = semi_hard(scores, positive, ~positive, margin=0.5)
    assert rows.tolist() == [0]
    assert ahead.tolist() == positive.tolist()
    assert behind.tolist() == [[False, False, False, True, False, False]]


def test_an_anchor_comes_once_for_each_positive_and_each_has_its_own_negatives():
    scores = -torch.tensor([[1.0, 2.0, 1.1, 2.1]])
    positive = torch.tensor([[True, True, False, False]])
    rows, ahead, behind = semi_hard(scores, positive, ~positive, margin=0.5)
    assert rows.tolist() == [0, 0]
    assert ahead.int().tolist() == [[1, 0, 0, 0], [0, 1, 0, 0]]
    assert behind.int().tolist() == [[0, 0, 1, 0], [0, 0, 0, 1]]


@pytest.mark.parametrize("rival", [0.5, 9.0])
def test_a_pair_without_a_semi_hard_negative_has_no_row(rival):
    """All nearer than the positive, or all beyond the margin."""
    positive = torch.tensor([[True, False]])
    rows, ahead, behind = semi_hard(-torch.tensor([[1.0, rival]]), positive, ~positive)
    assert rows.shape == (0,)
    assert ahead.shape == behind.shape == (0, 2)

"""The hardest negatives against a loop over positive pairs, in distances as the paper has them."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.miners import hardest
from samekind.pairs import pair_masks
from samekind.similarities import Euclidean


def by_hand(distances, labels, margin=0.1):
    """All (anchor, later item of its class, hardest negative) that break the margin; else the one nearest to.

    The hardest negative has the largest d(anchor, positive) - d(anchor, negative) + margin.
    """
    broken, best = [], None
    for anchor, label in enumerate(labels):
        strangers = [stranger for stranger, other in enumerate(labels) if other != label]
        for positive in range(anchor + 1, len(labels)):
            if labels[positive] != label or not strangers:
                continue
            breach, negative = max(
                (distances[anchor][positive] - distances[anchor][stranger] + margin, -stranger)
                for stranger in strangers
            )
            triplet = (anchor, positive, -negative)
            broken += [triplet] if breach > 0 else []
            best = max(best or (breach, triplet), (breach, triplet), key=lambda row: row[0])
    return broken or ([best[1]] if best else [])


def mined(scores, labels, **arguments):
    """The triplets the miner keeps."""
    rows, positive, negative = hardest(scores, *pair_masks(torch.tensor(labels), order="one"), **arguments)
    assert (positive.sum(1) == 1).all()
    assert (negative.sum(1) == 1).all()
    columns = positive.int().argmax(1).tolist(), negative.int().argmax(1).tolist()
    return list(zip(rows.tolist(), *columns, strict=True))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**31),
    labels=st.lists(st.integers(0, 2), min_size=2, max_size=8),
    apart=st.sampled_from([0.0, 0.5, 3.0]),
)
def test_agrees_with_the_definition(seed, labels, apart):
    """From mixed classes, where nearly all break the margin, to separate ones, where none does."""
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(len(labels), 3, dtype=torch.double, generator=generator) * 0.3
    z = z + apart * torch.eye(3, dtype=torch.double)[torch.tensor(labels)]
    scores = Euclidean().score_all(z, z)
    assert mined(scores, labels) == by_hand((-scores).tolist(), labels)


def test_a_negative_beyond_the_margin_is_left_out():
    """The anchor's positive lies at distance 1; its negatives at 1.05 and 1.2, then only at 1.2."""
    scores = -torch.tensor([[0.0, 1.0, 1.05, 1.2]] + [[9.0, 9.0, 20.0, 20.0]] * 3)
    labels = [0, 0, 1, 2]
    assert mined(scores, labels) == [(0, 1, 2)]
    positive = torch.tensor([[False, True, False, False]] * 2)
    negative = torch.tensor([[False, False, True, True], [False, False, False, True]])
    rows, ahead, behind = hardest(scores[[0, 0]], positive, negative)
    assert rows.tolist() == [0]
    assert behind.tolist() == [[False, False, True, False]]
    assert ahead.tolist() == [[False, True, False, False]]
    assert len(hardest(scores[[0, 0]], positive, negative, margin=0.25)[0]) == 2


def test_a_breach_of_0_does_not_count():
    """d(a, p) - d(a, n) + margin = 0 is not kept, unless it is all there is."""
    positive = torch.tensor([[True, False]] * 2)
    scores = torch.tensor([[0.5, 0.25], [0.5, 0.375]])
    rows, _, _ = hardest(scores, positive, ~positive, margin=0.25)
    assert rows.tolist() == [1]
    rows, _, _ = hardest(scores[:1], positive[:1], ~positive[:1], margin=0.25)
    assert rows.tolist() == [0]


def test_without_a_hard_triplet_the_nearest_is_returned():
    scores = torch.tensor([[0.9, 0.0], [0.9, 0.3], [0.9, 0.1]])
    positive = torch.tensor([[True, False]] * 3)
    rows, _, _ = hardest(scores, positive, ~positive)
    assert rows.tolist() == [1]


def test_an_anchor_comes_once_for_each_of_its_positives():
    scores = torch.zeros(4, 4)
    assert mined(scores, [0, 0, 0, 1]) == [(0, 1, 3), (0, 2, 3), (1, 2, 3)]
    rows, _, _ = hardest(scores, *pair_masks(torch.tensor([0, 0, 0, 1]), order="both"))
    assert rows.tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 2], []])
def test_without_a_triplet_there_is_no_row(labels):
    count = len(labels)
    masks = pair_masks(torch.tensor(labels, dtype=torch.long))
    rows, positive, negative = hardest(torch.rand(count, count), *masks)
    assert rows.shape == (0,)
    assert positive.shape == negative.shape == (0, count)

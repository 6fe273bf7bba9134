"""The masks against loops over pairs of labels."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from samekind.errors import SettingError
from samekind.pairs import class_masks, pair_masks

labels_of_a_batch = st.lists(st.integers(0, 3), max_size=8).map(
    lambda labels: torch.tensor(labels, dtype=torch.long)
)


@given(labels_of_a_batch)
def test_pairs_are_what_a_loop_finds(labels):
    positive, negative = pair_masks(labels)
    once, same_negative = pair_masks(labels, order="one")
    assert positive.shape == negative.shape == once.shape == (len(labels), len(labels))
    assert positive.dtype == negative.dtype == once.dtype == torch.bool
    assert torch.equal(negative, same_negative)  # each anchor has its own negatives, whatever the order
    for i, one in enumerate(labels.tolist()):
        for j, other in enumerate(labels.tolist()):
            assert positive[i, j] == (one == other and i != j)
            assert once[i, j] == (one == other and i < j)
            assert negative[i, j] == (one != other)


@given(labels_of_a_batch)
def test_in_one_order_every_positive_pair_is_there_exactly_once(labels):
    both, once = pair_masks(labels)[0], pair_masks(labels, order="one")[0]
    assert torch.equal(once.int() + once.T.int(), both.int())


def test_the_documents_batch():
    """24 classes of 5: 240 pairs of one kind, and 115 strangers for each of 120 items."""
    labels = torch.arange(24).repeat_interleave(5)
    positive, negative = pair_masks(labels, order="one")
    assert positive.sum() == 240
    assert negative.sum() == 120 * 115


@given(labels_of_a_batch, st.integers(4, 6))
def test_each_item_is_of_its_class_and_no_other(labels, classes):
    positive, negative = class_masks(labels, classes)
    assert positive.shape == (len(labels), classes)
    assert torch.equal(negative, ~positive)
    for i, label in enumerate(labels.tolist()):
        assert positive[i].nonzero().tolist() == [[label]]


def test_an_unknown_order_is_refused():
    with pytest.raises(SettingError, match='is "both" or "one"; got "first"'):
        pair_masks(torch.tensor([0, 1]), order="first")


@pytest.mark.parametrize("label", [-1, 3])
def test_a_label_outside_the_classes_is_refused(label):
    with pytest.raises(ValueError, match=r"expected labels from 0 to 2.*got"):
        class_masks(torch.tensor([0, label]), 3)

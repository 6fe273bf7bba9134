"""N-pair loss against a loop anyone can check by eye, and against softmax."""

import math

import pytest
import torch

from samekind.losses import n_pair, row_blocks, softmax
from samekind.pairs import class_masks, pair_masks

LABELS = torch.tensor([0, 0, 0, 1, 1, 2, 2, 3])


def by_hand(scores, positive, negative):
    """The definition, one anchor at a time."""
    shares = []
    for row, ahead, behind in zip(scores, positive, negative, strict=True):
        rivals = row[behind].tolist()
        costs = [math.log(1 + sum(math.exp(n - p) for n in rivals)) for p in row[ahead].tolist()]
        shares.append(sum(costs) / len(costs) if costs and rivals else 0.0)
    return torch.tensor(shares, dtype=scores.dtype)


@pytest.mark.parametrize("block", [10, 1000])
@pytest.mark.parametrize("masks", [pair_masks(LABELS), class_masks(LABELS, 5)], ids=["pairs", "prototypes"])
def test_agrees_with_the_definition_and_with_softmax(masks, block, monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", block)
    scores = torch.randn(masks[0].shape, dtype=torch.double, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(n_pair(scores, *masks), by_hand(scores, *masks))
    torch.testing.assert_close(n_pair(scores, *masks), softmax(scores, *masks, scale=1.0))


def test_in_blocks_it_has_the_gradient_it_claims(monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", 10)
    masks = pair_masks(LABELS)
    scores = torch.randn(8, 8, dtype=torch.double, generator=torch.Generator().manual_seed(0))
    assert torch.autograd.gradcheck(lambda leaf: n_pair(leaf, *masks), scores.requires_grad_())


def test_one_pair_from_each_class_is_a_classifier_of_the_anchors():
    """As in the paper: the positives of the other classes are the negatives."""
    scores = torch.randn(5, 5, generator=torch.Generator().manual_seed(0))
    expected = torch.nn.functional.cross_entropy(scores, torch.arange(5))
    torch.testing.assert_close(n_pair(scores, *class_masks(torch.arange(5), 5)).mean(), expected)

"""Supervised contrastive loss against a loop anyone can check by eye."""

import math

import pytest
import torch

from samekind.losses import nca, softmax, supervised_contrastive
from samekind.pairs import class_masks, pair_masks

LABELS = torch.tensor([0, 0, 0, 1, 1, 2, 2, 3])


def by_hand(scores, positive, negative, scale=10.0):
    """-1/|P| Σ log of each positive's part in the sum over all others."""
    shares = []
    for row, ahead, behind in zip(scores, positive, negative, strict=True):
        total = sum(math.exp(scale * s) for s in row[ahead | behind].tolist())
        costs = [-math.log(math.exp(scale * s) / total) for s in row[ahead].tolist()]
        shares.append(sum(costs) / len(costs) if costs else 0.0)
    return torch.tensor(shares, dtype=scores.dtype)


def some_cosines(mask):
    generator = torch.Generator().manual_seed(0)
    return torch.rand(mask.shape, dtype=torch.double, generator=generator) * 2 - 1


@pytest.mark.parametrize("masks", [pair_masks(LABELS), class_masks(LABELS, 5)], ids=["pairs", "prototypes"])
@pytest.mark.parametrize("scale", [10.0, 1.0, 1 / 0.07])
def test_agrees_with_the_definition(masks, scale):
    scores = some_cosines(masks[0])
    shares = supervised_contrastive(scores, *masks, scale=scale)
    torch.testing.assert_close(shares, by_hand(scores, *masks, scale))


def test_with_one_positive_it_is_the_softmax_and_nca():
    masks = class_masks(LABELS, 5)
    scores = some_cosines(masks[0])
    shares = supervised_contrastive(scores, *masks, scale=3.0)
    torch.testing.assert_close(shares, softmax(scores, *masks, scale=3.0))
    torch.testing.assert_close(shares, nca(scores, *masks, scale=3.0))


def test_several_positives_leave_a_floor_where_they_are_equally_close():
    scores = torch.tensor([[1.0, 1.0, 1.0, -1.0]], dtype=torch.double, requires_grad=True)
    positive = torch.tensor([[True, True, True, False]])
    share = supervised_contrastive(scores, positive, ~positive, scale=50.0)
    share.sum().backward()
    assert share.item() == pytest.approx(math.log(3))
    torch.testing.assert_close(scores.grad, torch.zeros_like(scores))


def test_of_several_positives_the_closest_is_pushed():
    """Why it is an exception to the promise that positives are only pulled."""
    scores = torch.tensor([[0.9, 0.1, -1.0]], requires_grad=True)
    positive = torch.tensor([[True, True, False]])
    supervised_contrastive(scores, positive, ~positive).sum().backward()
    assert scores.grad[0, 0] > 0
    assert scores.grad[0, 1] < 0
    assert scores.grad[0, 2] > 0


def test_an_anchor_without_positives_costs_nothing():
    scores = torch.rand(3, 3).requires_grad_()
    shares = supervised_contrastive(scores, *pair_masks(torch.tensor([0, 1, 2])))
    shares.sum().backward()
    assert (shares == 0).all()
    assert (scores.grad == 0).all()

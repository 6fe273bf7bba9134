"""Neighbourhood components analysis against a loop anyone can check by eye."""

import math

import pytest
import torch

from samekind.losses import nca
from samekind.pairs import class_masks, pair_masks
from samekind.similarities import SquaredEuclidean

LABELS = torch.tensor([0, 0, 0, 1, 1, 2, 2, 3])


def by_hand(z, labels, scale=1.0):
    """-log of the chance to draw a neighbour of one's own class; one's own class must have another item."""
    shares = []
    for i, one in enumerate(z.tolist()):
        chances = {
            j: math.exp(-scale * math.dist(one, other) ** 2) for j, other in enumerate(z.tolist()) if j != i
        }
        same = sum(chance for j, chance in chances.items() if labels[j] == labels[i])
        shares.append(-math.log(same / sum(chances.values())) if same else 0.0)
    return torch.tensor(shares, dtype=z.dtype)


@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_agrees_with_the_definition(scale):
    z = torch.randn(8, 3, dtype=torch.double, generator=torch.Generator().manual_seed(0))
    shares = nca(SquaredEuclidean().score_all(z, z), *pair_masks(LABELS), scale=scale)
    torch.testing.assert_close(shares, by_hand(z, LABELS, scale))


def test_one_near_positive_is_enough():
    """Where the supervised contrastive loss would still pull the other."""
    scores = torch.tensor([[5.0, -5.0, 0.0]], requires_grad=True)
    positive = torch.tensor([[True, True, False]])
    share = nca(scores, positive, ~positive)
    share.sum().backward()
    assert share.item() == pytest.approx(math.log1p(1 / (math.exp(5) + math.exp(-5))))
    assert scores.grad[0, 1].abs() < 1e-3 * scores.grad[0, 0].abs()


def test_far_items_have_a_cost_and_a_gradient_all_the_same():
    """The chances themselves would all be rounded to 0."""
    scores = torch.tensor([[-2000.0, -1000.0]], requires_grad=True)
    share = nca(scores, *class_masks(torch.tensor([0]), 2))
    share.sum().backward()
    assert share.item() == pytest.approx(1000)
    assert scores.grad.tolist() == [[-1.0, 1.0]]


@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 2]])
def test_without_a_positive_or_without_a_negative_it_costs_nothing(labels):
    scores = torch.rand(3, 3).requires_grad_()
    shares = nca(scores, *pair_masks(torch.tensor(labels)))
    shares.sum().backward()
    assert (shares == 0).all()
    assert (scores.grad == 0).all()

"""Additive-margin softmax against the formula written out."""

import itertools
import math

import pytest
import torch
import torch.nn.functional as F

from samekind.losses import additive_margin, softmax
from samekind.pairs import class_masks


def by_hand(cosines, labels, scale=30.0, margin=0.35):
    """-log of exp(s(cos_y - m)) over itself and the exp(s cos_j) of the others."""
    shares = []
    for row, label in zip(cosines.tolist(), labels.tolist(), strict=True):
        ahead = math.exp(scale * (row[label] - margin))
        behind = sum(math.exp(scale * cosine) for other, cosine in enumerate(row) if other != label)
        shares.append(-math.log(ahead / (ahead + behind)))
    return torch.tensor(shares, dtype=cosines.dtype)


def some_cosines(items=6, classes=5):
    generator = torch.Generator().manual_seed(0)
    return torch.rand(items, classes, dtype=torch.double, generator=generator) * 2 - 1


LABELS = torch.tensor([0, 1, 2, 3, 4, 0])


@pytest.mark.parametrize("arguments", [{}, {"margin": 0.4}, {"scale": 10.0}, {"scale": 64.0, "margin": 0.1}])
def test_agrees_with_the_definition(arguments):
    shares = additive_margin(some_cosines(), *class_masks(LABELS, 5), **arguments)
    torch.testing.assert_close(shares, by_hand(some_cosines(), LABELS, **arguments))


def test_the_margin_is_taken_off_the_target_alone_before_the_scale():
    cosines = some_cosines()
    logits = 30 * (cosines - 0.35 * F.one_hot(LABELS, 5))
    expected = F.cross_entropy(logits, LABELS)
    shares = additive_margin(cosines, *class_masks(LABELS, 5), scale=30.0, margin=0.35)
    torch.testing.assert_close(shares.mean(), expected)


def test_without_a_margin_it_is_the_softmax():
    cosines, masks = some_cosines(), class_masks(LABELS, 5)
    for options in ({}, {"smoothing": 0.2}, {"smoothing": 0.2, "spread": "all"}):
        torch.testing.assert_close(
            additive_margin(cosines, *masks, margin=0.0, scale=30.0, **options),
            softmax(cosines, *masks, scale=30.0, **options),
        )


@pytest.mark.parametrize("spread", ["others", "all"])
def test_smooths_the_target_of_the_moved_logits(spread):
    cosines, masks = some_cosines(), class_masks(LABELS, 5)
    logits = 30 * (cosines - 0.35 * F.one_hot(LABELS, 5))
    torch.testing.assert_close(
        additive_margin(cosines, *masks, smoothing=0.2, spread=spread),
        softmax(logits, *masks, smoothing=0.2, spread=spread),
    )


def test_a_larger_margin_costs_more():
    cosines, masks = some_cosines(), class_masks(LABELS, 5)
    costs = [additive_margin(cosines, *masks, margin=margin) for margin in (0.0, 0.1, 0.35, 0.5)]
    assert all((less < more).all() for less, more in itertools.pairwise(costs))


def test_a_cosine_that_rounding_put_outside_counts_as_one():
    masks = class_masks(torch.tensor([0]), 2)
    inside = torch.tensor([[-1.0, 1.0]])
    assert additive_margin(inside, *masks).item() == pytest.approx(30 * 2.35)
    for outside in (1.0001 * inside, 7 * inside):
        assert torch.equal(additive_margin(outside, *masks), additive_margin(inside, *masks))


def test_an_exact_match_has_a_gradient():
    """Where an arc cosine would have none."""
    cosines = torch.tensor([[1.0, 0.9]], requires_grad=True)
    additive_margin(cosines, *class_masks(torch.tensor([0]), 2)).sum().backward()
    assert cosines.grad[0, 0] < 0
    assert cosines.grad[0, 1] > 0

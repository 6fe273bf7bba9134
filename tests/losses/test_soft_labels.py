"""Soft labels against a loop anyone can check by eye."""

import math

import pytest
import torch

from samekind.errors import SettingError
from samekind.losses import soft_labels, softmax
from samekind.losses.soft_labels import soft_targets
from samekind.pairs import class_masks

# Two of a kind, one apart; the second is a class at an inner node above the first.
DISTANCES = torch.tensor([[0.0, 1.0, 4.0], [1.0, 0.0, 3.0], [4.0, 3.0, 0.0]], dtype=torch.double)
LABELS = torch.tensor([0, 1, 2, 0])
MASKS = class_masks(LABELS, 3)


def some_scores(seed=0):
    return torch.randn(4, 3, dtype=torch.double, generator=torch.Generator().manual_seed(seed))


def by_hand(scores, beta, largest, scale):
    shares = []
    for row, label in zip(scores.tolist(), LABELS.tolist(), strict=True):
        parts = [math.exp(-beta * distance / largest) for distance in DISTANCES[label].tolist()]
        total = sum(math.exp(scale * score) for score in row)
        shares.append(
            -sum(
                part / sum(parts) * math.log(math.exp(scale * score) / total)
                for part, score in zip(parts, row, strict=True)
            )
        )
    return torch.tensor(shares, dtype=torch.double)


def test_the_targets_are_those_of_the_table():
    expected = torch.tensor([[0.8668, 0.1173, 0.0159]])
    torch.testing.assert_close(soft_targets(torch.tensor([[0.0, 2.0, 4.0]])), expected, atol=5e-5, rtol=0)
    torch.testing.assert_close(soft_targets(DISTANCES).sum(1), torch.ones(3, dtype=torch.double))


@pytest.mark.parametrize(("relative", "largest"), [(False, 1.0), (True, 4.0)])
def test_agrees_with_the_definition(relative, largest):
    shares = soft_labels(some_scores(), *MASKS, distances=DISTANCES, beta=0.7, scale=3.0, relative=relative)
    torch.testing.assert_close(shares, by_hand(some_scores(), 0.7, largest, 3.0))


def test_with_a_large_beta_it_is_the_plain_cross_entropy():
    shares = soft_labels(some_scores(), *MASKS, distances=DISTANCES, beta=200.0)
    torch.testing.assert_close(shares, softmax(some_scores(), *MASKS))


def test_is_least_at_the_targets():
    best = soft_targets(DISTANCES).log()
    masks = class_masks(torch.arange(3), 3)
    leaf = best.clone().requires_grad_()
    soft_labels(leaf, *masks, distances=DISTANCES).sum().backward()
    torch.testing.assert_close(leaf.grad, torch.zeros_like(best))


def test_says_what_is_missing():
    with pytest.raises(ValueError, match=r"expected distances \(3, 3\) of the candidates, got None"):
        soft_labels(some_scores(), *MASKS)
    with pytest.raises(ValueError, match=r"got \(2, 3\)"):
        soft_labels(some_scores(), *MASKS, distances=DISTANCES[:2])
    with pytest.raises(SettingError, match="beta must be a positive number, got 0"):
        soft_labels(some_scores(), *MASKS, distances=DISTANCES, beta=0.0)

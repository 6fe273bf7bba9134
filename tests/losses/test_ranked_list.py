"""Ranked list against a loop over anchors, and its gradient against constant weights."""

import math

import pytest
import torch

from samekind.errors import SettingError
from samekind.losses import ranked_list, row_blocks
from samekind.pairs import class_masks, pair_masks

LABELS = torch.tensor([0, 0, 0, 1, 1, 2])


def weighted(costs, temperature):
    active = [cost for cost in costs if cost > 0]
    weights = [math.exp(temperature * cost.item()) for cost in active]
    return sum(w * cost for w, cost in zip(weights, active, strict=True)) / sum(weights) if active else 0.0


def by_hand(scores, positive, negative, margin=0.4, boundary=1.2, cold=0.0, hot=10.0, balance=0.5):
    """One anchor at a time; costs keep their graph, weights are plain numbers."""
    shares = []
    for row, ahead, behind in zip(scores, positive, negative, strict=True):
        far = [-score - (boundary - margin) for score in row[ahead]]
        near = [boundary + score for score in row[behind]]
        shares.append((1 - balance) * weighted(far, cold) + balance * weighted(near, hot))
    return torch.stack([torch.as_tensor(share, dtype=scores.dtype) for share in shares])


def some_scores(mask):
    return -2 * torch.rand(mask.shape, dtype=torch.double, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("block", [7, 1000])
@pytest.mark.parametrize("hot", [0.0, 10.0])
@pytest.mark.parametrize("masks", [pair_masks(LABELS), class_masks(LABELS, 4)], ids=["pairs", "prototypes"])
def test_value_and_gradient_are_those_of_the_definition(masks, hot, block, monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", block)
    scores = some_scores(masks[0]).requires_grad_()
    ours = ranked_list(scores, *masks, positive_temperature=2.0, negative_temperature=hot)
    expected = by_hand(scores, *masks, cold=2.0, hot=hot)
    torch.testing.assert_close(ours, expected)
    gradients = [torch.autograd.grad(shares.sum(), scores)[0] for shares in (ours, expected)]
    torch.testing.assert_close(*gradients)


def test_balance_is_the_part_of_the_negatives():
    masks = pair_masks(LABELS)
    scores = some_scores(masks[0])
    alone = [ranked_list(scores, *masks, balance=balance) for balance in (0.0, 1.0)]
    torch.testing.assert_close(ranked_list(scores, *masks, balance=0.25), 0.75 * alone[0] + 0.25 * alone[1])


def test_candidates_where_they_should_be_cost_nothing():
    positive = torch.tensor([[True, False]])
    assert ranked_list(-torch.tensor([[0.7, 1.3]]), positive, ~positive).item() == 0


@pytest.mark.parametrize("balance", [-0.1, 1.1])
def test_refuses_an_impossible_balance(balance):
    with pytest.raises(SettingError, match=f"from 0 to 1; got {balance}"):
        ranked_list(torch.zeros(6, 6), *pair_masks(LABELS), balance=balance)

"""Smooth AP against a loop anyone can check by eye, and against the true average precision."""

import math

import pytest
import torch
from sklearn.metrics import average_precision_score

from samekind.errors import SettingError
from samekind.losses import row_blocks, smooth_ap
from samekind.pairs import class_masks, pair_masks

LABELS = torch.tensor([0, 0, 0, 0, 1, 1, 2, 2, 3])


def sigmoid(value):
    return 1 / (1 + math.exp(-value)) if value > 0 else math.exp(value) / (1 + math.exp(value))


def by_hand(scores, positive, negative, temperature):
    """The definition, one anchor at a time."""
    shares = []
    for row, ahead, behind in zip(scores.tolist(), positive, negative, strict=True):
        positives, negatives = ahead.nonzero()[:, 0].tolist(), behind.nonzero()[:, 0].tolist()
        precisions = []
        for i in positives:
            steps = {j: sigmoid((row[j] - row[i]) / temperature) for j in positives + negatives if j != i}
            among_positives = 1 + sum(steps[j] for j in positives if j != i)
            precisions.append(among_positives / (among_positives + sum(steps[j] for j in negatives)))
        shares.append(1 - sum(precisions) / len(precisions) if precisions else 0.0)
    return torch.tensor(shares, dtype=scores.dtype)


def some_cosines(mask, seed=0):
    return 2 * torch.rand(mask.shape, dtype=torch.double, generator=torch.Generator().manual_seed(seed)) - 1


@pytest.mark.parametrize("block", [10, 1000])
@pytest.mark.parametrize("temperature", [0.01, 0.2, 1.0])
@pytest.mark.parametrize("masks", [pair_masks(LABELS), class_masks(LABELS, 5)], ids=["pairs", "prototypes"])
def test_agrees_with_the_definition(masks, temperature, block, monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", block)
    scores = some_cosines(masks[0])
    torch.testing.assert_close(
        smooth_ap(scores, *masks, temperature=temperature), by_hand(scores, *masks, temperature)
    )


@pytest.mark.parametrize("block", [10, 1000])
def test_has_the_gradient_it_claims(block, monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", block)
    masks = pair_masks(LABELS)
    scores = some_cosines(masks[0]).requires_grad_()
    assert torch.autograd.gradcheck(lambda leaf: smooth_ap(leaf, *masks, temperature=0.3), scores)


def test_when_cold_it_is_one_minus_average_precision():
    labels = torch.arange(30) % 4
    positive, negative = pair_masks(labels)
    scores = some_cosines(positive)
    shares = smooth_ap(scores, positive, negative, temperature=1e-6)
    others = ~torch.eye(30, dtype=torch.bool)
    expected = [
        1 - average_precision_score(positive[a][others[a]].numpy(), scores[a][others[a]].numpy())
        for a in range(30)
    ]
    assert shares.tolist() == pytest.approx(expected, abs=1e-6)


def test_a_mistake_at_the_top_costs_more_than_one_at_the_bottom():
    positive = torch.tensor([[True, True, True, False]])
    top, bottom = torch.tensor([[0.8, 0.7, 0.6, 0.9]]), torch.tensor([[0.8, 0.7, 0.6, 0.65]])
    assert smooth_ap(top, positive, ~positive) > smooth_ap(bottom, positive, ~positive) > 0.05


def test_a_right_order_costs_nothing_and_ties_cost_what_chance_would():
    positive = torch.tensor([[True, False]])
    assert smooth_ap(torch.tensor([[0.9, 0.1]]), positive, ~positive).item() < 1e-30
    assert smooth_ap(torch.tensor([[0.5, 0.5]]), positive, ~positive).item() == pytest.approx(1 / 3)


@pytest.mark.parametrize("temperature", [0.0, -1.0])
def test_refuses_a_temperature_that_is_not_positive(temperature):
    with pytest.raises(SettingError, match=f"must be a positive number, got {temperature}"):
        smooth_ap(torch.zeros(9, 9), *pair_masks(LABELS), temperature=temperature)

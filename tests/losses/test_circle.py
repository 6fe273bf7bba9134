"""Circle loss against a loop anyone can check by eye, and the paper's gradient."""

import math

import pytest
import torch

from samekind.losses import circle
from samekind.pairs import class_masks, pair_masks

LABELS = torch.tensor([0, 0, 0, 1, 1, 2, 2, 3])


def by_hand(scores, positive, negative, margin=0.4, sharpness=80.0):
    """The definition, one anchor at a time; the weights are numbers, not functions of the score."""
    shares = []
    for row, ahead, behind in zip(scores, positive, negative, strict=True):
        pull, push = [], []
        for s in row[ahead]:
            weight = max(0.0, 1 + margin - s.item())
            pull.append(-sharpness * weight * (s - (1 - margin)))
        for s in row[behind]:
            weight = max(0.0, s.item() + margin)
            push.append(sharpness * weight * (s - margin))
        product = sum(value.exp() for value in pull) * sum(value.exp() for value in push)
        shares.append(torch.log1p(product) if pull and push else row.sum() * 0)
    return torch.stack(shares)


def some_cosines(mask):
    generator = torch.Generator().manual_seed(0)
    return (torch.rand(mask.shape, dtype=torch.double, generator=generator) * 2 - 1).requires_grad_()


@pytest.mark.parametrize("masks", [pair_masks(LABELS), class_masks(LABELS, 5)], ids=["pairs", "prototypes"])
@pytest.mark.parametrize("arguments", [{}, {"margin": 0.25, "sharpness": 10.0}])
def test_value_and_gradient_agree_with_the_definition(masks, arguments):
    scores = some_cosines(masks[0])
    shares, expected = circle(scores, *masks, **arguments), by_hand(scores, *masks, **arguments)
    torch.testing.assert_close(shares, expected)
    actual, slopes = (torch.autograd.grad(cost.sum(), scores)[0] for cost in (shares, expected))
    torch.testing.assert_close(actual, slopes)


@pytest.mark.parametrize("block", [16, 1000])
def test_the_second_derivatives_are_those_of_the_definition(block, monkeypatch):
    monkeypatch.setattr("samekind.losses.row_blocks.BLOCK", block)
    masks = pair_masks(LABELS)
    scores = some_cosines(masks[0]).detach()
    ours, expected = (
        torch.autograd.functional.hessian(
            lambda leaf, cost=cost: cost(leaf, *masks, sharpness=10).sum(), scores
        )
        for cost in (circle, by_hand)
    )
    torch.testing.assert_close(ours, expected)


def test_rows_in_blocks_cost_the_same(monkeypatch):
    masks = pair_masks(LABELS)
    scores = some_cosines(masks[0])
    whole = circle(scores, *masks)
    monkeypatch.setattr("samekind.losses.row_blocks.BLOCK", 16)
    blocks = circle(scores, *masks)
    torch.testing.assert_close(blocks, whole)
    torch.testing.assert_close(*(torch.autograd.grad(cost.sum(), scores)[0] for cost in (blocks, whole)))


def test_on_the_circle_the_share_is_log_two():
    """Its decision boundary: (s_n - 0)² + (s_p - 1)² = 2 m²."""
    margin = 0.25
    for turn in (0.3, 0.7, 1.2):
        radius = math.sqrt(2) * margin
        scores = torch.tensor([[1 - radius * math.cos(turn), radius * math.sin(turn)]], dtype=torch.double)
        positive = torch.tensor([[True, False]])
        assert circle(scores, positive, ~positive, margin=margin).item() == pytest.approx(math.log(2))


def test_a_score_at_its_best_is_left_alone():
    """A positive at 1 + m, were it possible, and a negative at -m have the weight 0."""
    scores = torch.tensor([[0.2, -0.4, -0.9]], dtype=torch.double, requires_grad=True)
    positive = torch.tensor([[True, False, False]])
    circle(scores, positive, ~positive).sum().backward()
    assert scores.grad[0, 0] < 0
    assert (scores.grad[0, 1:] == 0).all()


@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 2]])
def test_without_a_positive_or_without_a_negative_it_costs_nothing(labels):
    assert (circle(torch.ones(3, 3), *pair_masks(torch.tensor(labels))) == 0).all()

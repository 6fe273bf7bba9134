"""Multi-similarity loss against a loop anyone can check by eye."""

import math

import pytest
import torch

from samekind.losses import multi_similarity
from samekind.pairs import class_masks, pair_masks

LABELS = torch.tensor([0, 0, 0, 1, 1, 2, 2, 3])


def by_hand(scores, positive, negative, attraction=2.0, repulsion=50.0, threshold=0.5):
    """The definition, one anchor at a time."""
    shares = []
    for row, ahead, behind in zip(scores, positive, negative, strict=True):
        pull = sum(math.exp(-attraction * (s - threshold)) for s in row[ahead].tolist())
        push = sum(math.exp(repulsion * (s - threshold)) for s in row[behind].tolist())
        shares.append(math.log(1 + pull) / attraction + math.log(1 + push) / repulsion)
    return torch.tensor(shares, dtype=scores.dtype)


def some_cosines(mask):
    generator = torch.Generator().manual_seed(0)
    return torch.rand(mask.shape, dtype=torch.double, generator=generator) * 2 - 1


@pytest.mark.parametrize("masks", [pair_masks(LABELS), class_masks(LABELS, 5)], ids=["pairs", "prototypes"])
@pytest.mark.parametrize(
    "arguments", [{}, {"threshold": 1.0}, {"attraction": 1.0, "repulsion": 10.0, "threshold": 0.0}]
)
def test_agrees_with_the_definition(masks, arguments):
    scores = some_cosines(masks[0])
    torch.testing.assert_close(
        multi_similarity(scores, *masks, **arguments), by_hand(scores, *masks, **arguments)
    )


def test_each_side_stands_alone():
    """Without positives the negatives still push, and the other way round."""
    scores = torch.tensor([[0.7, 0.7]])
    both, nobody = torch.ones(1, 2, dtype=torch.bool), torch.zeros(1, 2, dtype=torch.bool)
    push = multi_similarity(scores, nobody, both).item()
    assert push == pytest.approx(math.log(1 + 2 * math.exp(10.0)) / 50)
    assert multi_similarity(scores, both, nobody).item() == pytest.approx(
        math.log(1 + 2 * math.exp(-0.4)) / 2
    )


def test_sharp_sides_are_hinges_on_the_hardest():
    scores = torch.tensor([[0.9, 0.3, 0.8, -0.5]])
    positive = torch.tensor([[True, True, False, False]])
    share = multi_similarity(scores, positive, ~positive, attraction=1e4, repulsion=1e4)
    assert share.item() == pytest.approx((0.5 - 0.3) + (0.8 - 0.5), abs=1e-3)


def test_the_hardest_candidates_get_the_most_gradient():
    scores = torch.tensor([[0.9, 0.3, 0.8, 0.6]], requires_grad=True)
    positive = torch.tensor([[True, True, False, False]])
    multi_similarity(scores, positive, ~positive).sum().backward()
    assert scores.grad[0, 1] < scores.grad[0, 0] < 0 < scores.grad[0, 3] < scores.grad[0, 2]

"""Proxy-Anchor against a loop over proxies anyone can check by eye."""

import math

import pytest
import torch

from samekind.losses import proxy_anchor
from samekind.pairs import class_masks

# Class 4 has no item in the batch.
LABELS = torch.tensor([0, 0, 0, 1, 1, 2, 2, 3])
CLASSES = 5


def by_hand(scores, positive, negative, margin=0.1, sharpness=32.0):
    """The paper's value: a mean over the proxies with items, and one over all proxies."""
    pull, push = [], []
    for proxy in range(scores.shape[1]):
        ahead = scores[:, proxy][positive[:, proxy]].tolist()
        behind = scores[:, proxy][negative[:, proxy]].tolist()
        if ahead:
            pull.append(math.log(1 + sum(math.exp(-sharpness * (s - margin)) for s in ahead)))
        push.append(math.log(1 + sum(math.exp(sharpness * (s + margin)) for s in behind)))
    return sum(pull) / len(pull) + sum(push) / len(push)


def some_cosines():
    generator = torch.Generator().manual_seed(0)
    return torch.rand(len(LABELS), CLASSES, dtype=torch.double, generator=generator) * 2 - 1


@pytest.mark.parametrize("arguments", [{}, {"margin": 0.3}, {"sharpness": 4.0}])
def test_the_mean_of_the_shares_is_the_papers_value(arguments):
    scores, masks = some_cosines(), class_masks(LABELS, CLASSES)
    value = proxy_anchor(scores, *masks, **arguments).mean().item()
    assert value == pytest.approx(by_hand(scores, *masks, **arguments))


def test_the_items_of_a_proxy_share_its_cost_equally():
    """One proxy, two items of its class and one of another; for the other class there is no proxy."""
    scores = torch.tensor([[0.1], [0.4], [0.3]], dtype=torch.double)
    positive = torch.tensor([[True], [True], [False]])
    pull = math.log(1 + math.exp(0.0) + math.exp(-32 * 0.3))
    push = math.log(1 + math.exp(32 * 0.4))
    shares = proxy_anchor(scores, positive, ~positive) / len(scores)
    assert shares.tolist() == pytest.approx([pull / 2, pull / 2, push])


def test_the_hardest_item_of_a_proxy_gets_the_most_gradient():
    scores = torch.tensor([[0.1], [0.2], [0.3], [0.5]], requires_grad=True)
    positive = torch.tensor([[True], [True], [False], [False]])
    proxy_anchor(scores, positive, ~positive).sum().backward()
    assert scores.grad[0] < scores.grad[1] < 0 < scores.grad[2] < scores.grad[3]


def test_a_proxy_without_items_is_pushed_but_is_not_among_those_that_pull():
    scores, masks = torch.full((3, 2), 0.4, dtype=torch.double), class_masks(torch.zeros(3).long(), 2)
    pull, push = math.log(1 + 3 * math.exp(-32 * 0.3)), math.log(1 + 3 * math.exp(32 * 0.5))
    assert proxy_anchor(scores, *masks).mean().item() == pytest.approx(pull / 1 + (0 + push) / 2)

"""Proxies that the gradient trains."""

import math

import pytest
import torch
import torch.nn.functional as F

from samekind.losses import softmax
from samekind.pairs import class_masks
from samekind.prototypes import LearnedProxies
from samekind.similarities import Cosine


@pytest.mark.parametrize("count", [1, 4])
def test_starts_kaiming_normal_over_the_dimension(count):
    """Mean 0 and standard deviation √(2 / dimension), however many there are."""
    torch.manual_seed(0)
    proxies = LearnedProxies([str(index) for index in range(200)], dimension=50, count=count)
    assert abs(proxies.vectors.mean()) < 0.01
    assert proxies.vectors.std().item() == pytest.approx(math.sqrt(2 / 50), rel=0.05)


def test_the_gradient_is_what_trains_them():
    torch.manual_seed(0)
    proxies = LearnedProxies(["ant", "bee", "cat"], dimension=8)
    z, y = F.normalize(torch.randn(6, 8), dim=1), torch.tensor([0, 0, 1, 1, 2, 2])
    optimiser = torch.optim.SGD(proxies.parameters(), lr=1.0)
    costs = []
    for _ in range(30):
        scores = Cosine().score_all(proxies.vectors[:, 0], z).T
        cost = softmax(scores, *class_masks(y, 3), scale=10.0).mean()
        optimiser.zero_grad()
        cost.backward()
        optimiser.step()
        costs.append(cost.item())
    assert costs[-1] < 0.5 * costs[0]


def test_an_assignment_takes_its_count_from_the_vectors():
    proxies = LearnedProxies(["ant"], dimension=2, count=3)
    proxies.assign(["bee", "cat"], torch.ones(2, 5, 2))
    assert proxies.count == 5
    assert [parameter is proxies.vectors for parameter in proxies.parameters()] == [True]

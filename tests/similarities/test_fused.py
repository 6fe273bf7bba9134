"""The fused score against its formula."""

import math

import pytest
import torch

from samekind.errors import SettingError
from samekind.similarities import Cosine, Dot, Euclidean, Fused, LogDistance, PairsNetwork, SquaredEuclidean


def by_hand(logit, cosine):
    return 0.5 * (1 / (1 + math.exp(-logit)) + 0.5 * (cosine + 1))


@pytest.mark.parametrize("learned", [Dot(), Dot(bias=True), PairsNetwork(dimension=3, hidden=8)])
def test_agrees_with_the_definition(learned):
    learned = learned.eval()
    generator = torch.Generator().manual_seed(0)
    a, b = torch.randn(4, 3, generator=generator), torch.randn(4, 3, generator=generator)
    logits, cosines = learned.score_all(a, b), Cosine().score_all(a, b)
    expected = torch.tensor(
        [[by_hand(logits[i, j].item(), cosines[i, j].item()) for j in range(4)] for i in range(4)]
    )
    fused = Fused(learned)
    torch.testing.assert_close(fused.score_all(a, b), expected)
    torch.testing.assert_close(fused(a, b), expected.diagonal())


def test_lies_between_zero_and_one_and_reaches_both():
    a = torch.tensor([[100.0, 0.0]])
    assert Fused(Dot())(a, a).item() == pytest.approx(1)
    assert Fused(Dot())(a, -a).item() == pytest.approx(0)
    assert Fused(Dot())(a, torch.tensor([[0.0, 1.0]])).item() == pytest.approx(0.5)


def test_a_large_logit_does_not_drown_the_cosine():
    a = torch.tensor([[100.0, 0.0], [100.0, 0.0]])
    near, far = Fused(Dot())(a, torch.tensor([[100.0, 1.0], [100.0, 100.0]])).tolist()
    assert near > far + 0.05


@pytest.mark.parametrize("other", [Cosine(), Euclidean(), SquaredEuclidean(), LogDistance()])
def test_refuses_scores_that_are_no_logits(other):
    with pytest.raises(SettingError, match=rf"logits, got kind '{other.kind}'"):
        Fused(other)


def test_learns_through_what_it_holds():
    network = PairsNetwork(dimension=3, hidden=8)
    fused = Fused(network)
    assert {id(each) for each in network.parameters()} == {id(each) for each in fused.parameters()}
    fused.score_all(torch.randn(2, 3), torch.randn(2, 3)).sum().backward()
    assert all(each.grad is not None for each in network.parameters())

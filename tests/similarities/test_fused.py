"""The fused score against its formula."""

import math

import pytest
import torch

from samekind.errors import SettingError
from samekind.similarities import (
    CorrectedCosine,
    Cosine,
    Dot,
    Euclidean,
    Fused,
    LogDistance,
    PairsNetwork,
    SquaredEuclidean,
    score_all,
)
from samekind.similarities.pair_blocks import PairBlocks


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
def test_refuses_scores_that_are_not_logits(other):
    with pytest.raises(SettingError, match=rf"logits, got '{other.quantity}'"):
        Fused(other)


def test_learns_through_what_it_holds():
    network = PairsNetwork(dimension=3, hidden=8)
    fused = Fused(network)
    assert {id(parameter) for parameter in network.parameters()} == {
        id(parameter) for parameter in fused.parameters()
    }
    fused.score_all(torch.randn(2, 3), torch.randn(2, 3)).sum().backward()
    assert all(parameter.grad is not None for parameter in network.parameters())


@pytest.mark.parametrize("kind", [PairsNetwork, CorrectedCosine])
@torch.no_grad()
def test_a_walk_makes_the_similarity_ready_once_and_scores_the_plain_way(made_ready, kind):
    torch.manual_seed(0)
    learned = kind(dimension=3, hidden=8, depth=2).eval()
    a, b, fused = torch.randn(20, 3), torch.randn(30, 3), Fused(learned)
    result = score_all(fused, a, b, memory_budget=10 * fused.pair_bytes(3))
    assert made_ready == [1]
    pairs = a.repeat_interleave(30, 0), b.repeat(20, 1)
    torch.testing.assert_close(result, fused(*pairs).view(20, 30))


def test_is_itself_where_its_similarity_is():
    a = torch.randn(70, 3)
    fused = Fused(PairsNetwork(dimension=3, hidden=8).eval())
    assert fused.frozen(a, a) is fused  # the parameters want a gradient
    with torch.no_grad():
        assert fused.frozen(a[:3], a) is fused  # too few pairs
        assert isinstance(fused.frozen(a, a).scorer, PairBlocks)
        plain = Fused(Dot())
        assert plain.frozen(a, a) is plain  # nothing to make ready

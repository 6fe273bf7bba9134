"""The corrected cosine: the cosine at first, then the sum of its two parts."""

import pytest
import torch
import torch.nn.functional as F

from samekind.errors import SettingError
from samekind.similarities import CorrectedCosine, Cosine, score_all
from samekind.similarities.pair_blocks import PairBlocks
from samekind.similarities.pairs_network import concatenated


def some(count, seed):
    return torch.randn(count, 6, generator=torch.Generator().manual_seed(seed))


def trained(**arguments):
    """One whose network has something to say."""
    torch.manual_seed(0)
    similarity = CorrectedCosine(dimension=6, hidden=8, depth=2, **arguments).eval()
    for parameter in similarity.parameters():
        torch.nn.init.normal_(parameter)
    return similarity


def test_ranks_as_the_cosine_does_at_first_with_the_border_at_one_half():
    a, b = some(4, 1), some(5, 2)
    similarity, cosine = CorrectedCosine(dimension=6), Cosine()
    torch.testing.assert_close(similarity.score_all(a, b), 10 * cosine.score_all(a, b) - 5)
    torch.testing.assert_close(similarity(a, b[:4]), 10 * cosine(a, b[:4]) - 5)


def test_is_the_sum_of_its_parts():
    similarity, a, b = trained(), some(3, 1), some(4, 2)
    scores = similarity.score_all(a, b)
    for row, x in enumerate(a):
        for column, y in enumerate(b):
            by_hand = similarity.sharpness * (x @ y) / (x.norm() * y.norm()) + similarity.offset
            by_hand = by_hand + similarity.network(x[None], y[None])[0]
            torch.testing.assert_close(scores[row, column], by_hand)


def test_everything_in_it_learns():
    similarity, a = CorrectedCosine(dimension=6, hidden=8, dropout=0.0), some(6, 1)
    same = torch.eye(6)
    optimiser = torch.optim.SGD(similarity.parameters(), lr=0.1)
    costs = []
    for _ in range(30):
        optimiser.zero_grad()
        cost = F.binary_cross_entropy_with_logits(similarity.score_all(a, a), same)
        cost.backward()
        optimiser.step()
        costs.append(cost.item())
    assert costs[-1] < costs[0]
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in similarity.parameters())


def test_refuses_what_the_network_refuses():
    with pytest.raises(SettingError, match="at least one hidden layer"):
        CorrectedCosine(dimension=6, depth=0)


@pytest.mark.parametrize("normalise", [False, True])
@torch.no_grad()
def test_a_walk_makes_the_network_ready_once_and_scores_the_plain_way(made_ready, normalise):
    similarity, a, b = trained(normalise=normalise), some(20, 1), some(30, 2)
    result = score_all(similarity, a, b, memory_budget=10 * similarity.pair_bytes(6))
    assert made_ready == [1]
    cosines, corrections = Cosine().score_all(a, b), concatenated(similarity.network, a, b)
    torch.testing.assert_close(result, similarity.sharpness * cosines + similarity.offset + corrections)


def test_is_itself_where_its_network_is():
    similarity, a, b = trained(), some(70, 1), some(70, 2)
    assert similarity.frozen(a, b) is similarity  # the parameters want a gradient
    with torch.no_grad():
        assert similarity.frozen(a[:3], b) is similarity  # too few pairs
        assert isinstance(similarity.frozen(a, b).scorer, PairBlocks)


def test_under_autocast_the_cosine_keeps_its_digits():
    """A network that says nothing in 16 bits leaves the cosine as it is in float32."""
    a, b = some(4, 1), some(5, 2)
    similarity = CorrectedCosine(dimension=6)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert similarity.network.score_all(a, b).dtype == torch.bfloat16
        scores = similarity.score_all(a, b)
    torch.testing.assert_close(scores, similarity.score_all(a, b), rtol=0, atol=0)

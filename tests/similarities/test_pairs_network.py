"""The pairs network against the same layers over concatenated pairs, one pair at a time."""

from functools import partial

import pytest
import torch
from torch import nn

from samekind.errors import SettingError
from samekind.similarities import CorrectedCosine, PairsNetwork
from samekind.similarities.pairs_network import concatenated


def network(*, dimension=6, seed=0, **arguments):
    torch.manual_seed(seed)
    return PairsNetwork(dimension=dimension, **{"hidden": 16, **arguments})


def some(count, dimension=6, seed=1):
    return torch.randn(count, dimension, generator=torch.Generator().manual_seed(seed))


def as_layers(network):
    """The architecture as the paper draws it: (Linear, LeakyReLU) x depth, Dropout, Linear."""
    layers = []
    for linear in [network.first, *network.layers]:
        layers += [linear, nn.LeakyReLU(network.slope)]
    return nn.Sequential(*layers, nn.Dropout(network.dropout), network.last).train(network.training)


@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("slope", [0.1, 0.0, 0.5])
def test_agrees_with_the_layers_over_each_pair_in_turn(depth, slope):
    similarity = network(depth=depth, slope=slope).eval()
    layers = as_layers(similarity)
    a, b = some(4), some(5, seed=2)
    by_hand = torch.tensor([[layers(torch.cat([x, y])).item() for y in b] for x in a])
    torch.testing.assert_close(similarity.score_all(a, b), by_hand, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(concatenated(similarity, a, b), by_hand, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(similarity(a, b[:4]), by_hand.diagonal(), atol=1e-5, rtol=1e-5)


def test_normalised_it_sees_directions_alone():
    similarity = network(depth=2, normalise=True).eval()
    layers = as_layers(similarity)
    a, b = some(70), 7 * some(80, seed=2)
    ends = [[6**0.5 * z / z.norm() for z in value] for value in (a, b)]
    by_hand = torch.tensor([[layers(torch.cat([x, y])).item() for y in ends[1]] for x in ends[0]])
    close = partial(torch.testing.assert_close, atol=1e-5, rtol=1e-5)
    close(similarity.score_all(a, b), by_hand)
    close(concatenated(similarity, a, b), by_hand)
    close(similarity(a, b[:70]), by_hand.diagonal())
    with torch.no_grad():
        assert similarity.frozen(a, b) is not similarity
        close(similarity.score_all(a, b), by_hand)
        close(similarity.score_all(3 * a, b / 5), by_hand)
    assert similarity.score_all(a * 0, b).isfinite().all()


@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("depth", [1, 3])
def test_its_gradients_are_those_of_the_concatenation(depth, normalise):
    similarity = network(depth=depth, normalise=normalise).eval()
    weights = some(4, dimension=5, seed=3)
    result = []
    for score_all in (similarity.score_all, lambda a, b: concatenated(similarity, a, b)):
        a, b = some(4).requires_grad_(), some(5, seed=2).requires_grad_()
        cost = (weights * score_all(a, b)).sum()
        result.append(torch.autograd.grad(cost, [a, b, *similarity.parameters()]))
    torch.testing.assert_close(result[0], result[1], atol=1e-5, rtol=1e-5)


def test_the_first_half_of_the_first_layer_belongs_to_the_first_argument():
    similarity = network().eval()
    a, b = some(3), some(3, seed=2)
    with torch.no_grad():
        similarity.first.weight[:, 6:] = 0
    scores = similarity.score_all(a, b)
    assert torch.equal(scores, scores[:, :1].expand(3, 3))  # the second argument is not seen
    assert len(scores[:, 0].unique()) == 3  # the first is


def test_the_order_of_the_two_matters():
    similarity = network().eval()
    a, b = some(4), some(4, seed=2)
    assert not torch.allclose(similarity(a, b), similarity(b, a), atol=1e-3)
    assert not torch.allclose(similarity.score_all(a, b), similarity.score_all(b, a).T, atol=1e-3)


def test_dropout_acts_in_training_only():
    similarity = network(dropout=0.5, hidden=64)
    a, b = some(4), some(5, seed=2)
    assert torch.equal(similarity.eval().score_all(a, b), similarity.score_all(a, b))
    similarity.train()
    assert not torch.equal(similarity.score_all(a, b), similarity.score_all(a, b))
    assert not torch.equal(similarity(a, b[:4]), similarity(a, b[:4]))
    still = network(dropout=0.0)
    assert torch.equal(still.train().score_all(a, b), still.score_all(a, b))


@pytest.mark.parametrize("depth", [1, 3])
def test_dropout_lies_between_the_last_hidden_layer_and_the_logit_alone(depth):
    """In training, with the same draws, the score is that of the layers as the paper draws them."""
    similarity = network(dropout=0.5, depth=depth).train()
    layers = as_layers(similarity)
    a, b = some(4), some(4, seed=2)
    torch.manual_seed(3)
    expected = layers(torch.cat([a, b], dim=1)).squeeze(1)
    torch.manual_seed(3)
    torch.testing.assert_close(similarity(a, b), expected, atol=1e-5, rtol=1e-5)


def test_the_defaults_are_the_papers():
    similarity = PairsNetwork(dimension=128)
    assert (similarity.hidden, similarity.depth, similarity.dropout, similarity.slope) == (512, 1, 0.25, 0.1)
    assert sum(parameter.numel() for parameter in similarity.parameters()) == (256 * 512 + 512) + (512 + 1)


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_depth_counts_the_hidden_layers(depth):
    similarity = network(depth=depth)
    shapes = [tuple(module.weight.shape) for module in similarity.modules() if isinstance(module, nn.Linear)]
    assert shapes == [(16, 12), *[(16, 16)] * (depth - 1), (1, 16)]
    assert all(module.bias is not None for module in similarity.modules() if isinstance(module, nn.Linear))


def test_the_score_is_a_logit_not_a_probability():
    similarity = network().eval()
    with torch.no_grad():
        similarity.last.bias.fill_(-50)
    assert (similarity.score_all(some(3), some(3)) < -10).all()
    assert similarity.quantity == "logit"


@pytest.mark.parametrize("depth", [0, -1])
def test_refuses_to_have_no_hidden_layer(depth):
    with pytest.raises(SettingError, match=f"at least one hidden layer, got depth={depth}"):
        PairsNetwork(dimension=4, depth=depth)


@pytest.mark.parametrize("dropout", [-0.1, 1.0, 1.5])
def test_refuses_a_dropout_outside_0_to_1(dropout):
    with pytest.raises(SettingError, match=f"dropout is a probability below 1; got {dropout}"):
        PairsNetwork(dimension=4, dropout=dropout)


@pytest.mark.parametrize("slope", [-0.1, float("nan")])
@pytest.mark.parametrize("kind", [PairsNetwork, CorrectedCosine])
def test_refuses_a_negative_slope_of_units(kind, slope):
    with pytest.raises(SettingError, match=f"a number from 0 up; got {slope}"):
        kind(dimension=4, slope=slope)
    kind(dimension=4, slope=0.0)(torch.ones(2, 4), torch.ones(2, 4)).sum().backward()


def test_the_network_trains():
    """Told that a pair in one order is the same and in the other different, it learns just that."""
    similarity = network(dropout=0.0, hidden=32)
    optimiser = torch.optim.Adam(similarity.parameters(), lr=0.01)
    a, b = some(8), some(8, seed=2)
    for _ in range(150):
        optimiser.zero_grad()
        cost = (
            nn.functional.softplus(-similarity(a, b)).mean() + nn.functional.softplus(similarity(b, a)).mean()
        )
        cost.backward()
        optimiser.step()
    assert (similarity(a, b) > 0).all()
    assert (similarity(b, a) < 0).all()

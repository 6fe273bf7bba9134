"""Encoders around others have what the one inside has, and nothing that it lacks."""

import pytest

from samekind.encoders import MLP, Compressed, Headed, ResNet18, Standardised, Views
from samekind.encoders.wrapping import network_of


@pytest.fixture(scope="module")
def network():
    return ResNet18(channels=1, dimension=4, freeze="features")


def test_the_network_is_the_innermost(network):
    whole = Compressed(
        encoder=Standardised(encoder=Views(encoder=network), means=[0.5], deviations=[2.0]), dimension=2
    )
    assert network_of(whole) is network
    assert network_of(network) is network
    assert list(whole.stages()) == list(network.stages())
    assert whole.map_channels == network.map_channels
    assert (whole.dimension, whole.encoder.dimension) == (2, 4)


def test_what_the_inside_lacks_is_lacking():
    whole = Views(encoder=MLP(inputs=3))
    assert not hasattr(whole, "stages")
    assert not hasattr(whole, "map_channels")
    assert not hasattr(Headed(encoder=MLP(inputs=3), head=MLP(inputs=64)), "stages")


def test_what_is_frozen_inside_stays_frozen(network):
    whole = Headed(encoder=Views(encoder=network), head=MLP(inputs=4, dimension=3)).eval().train()
    assert not network.layer1.training
    assert whole.head.training
    assert network.embedding.training

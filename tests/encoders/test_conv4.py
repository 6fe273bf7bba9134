"""Conv4: the published size, the shapes, how it starts."""

import copy

import pytest
import torch
from torch import nn

from samekind.encoders import Conv4
from samekind.errors import SettingError


def test_has_the_published_number_of_parameters():
    # 0.11 million: four convolutions with bias, four normalisations of 64 channels.
    by_hand = (3 * 9 + 1) * 64 + 3 * (64 * 9 + 1) * 64 + 4 * 2 * 64
    assert by_hand == 113_088
    assert sum(parameter.numel() for parameter in Conv4().parameters()) == by_hand


@pytest.mark.parametrize(("size", "features"), [(16, 64), (28, 64), (32, 256), (84, 1600)])
def test_features_are_the_last_map_flattened(size, features):
    with torch.device("meta"):
        encoder = Conv4(size=size)
        assert encoder.features(torch.empty(2, 3, size, size)).shape == (2, features)
    assert encoder.feature_dimension == encoder.dimension == features


def test_knows_where_things_are():
    images = torch.zeros(2, 3, 32, 32)
    images[0, :, 2, 2] = images[1, :, 29, 29] = 1
    torch.manual_seed(0)
    with torch.no_grad():
        one, other = Conv4(size=32).eval()(images)
    assert not torch.allclose(one, other)


def test_convolutions_start_as_published():
    torch.manual_seed(0)
    convolutions = [module for module in Conv4().modules() if isinstance(module, nn.Conv2d)]
    assert len(convolutions) == 4
    for convolution in convolutions:
        assert convolution.weight.std().item() == pytest.approx((2 / (3 * 3 * 64)) ** 0.5, rel=0.05)


def as_published(layer):
    """Convolution, normalisation, ReLU, pooling: the order of the papers."""
    convolution, normalisation, *_ = copy.deepcopy(layer)
    return nn.Sequential(convolution, normalisation, nn.ReLU(), nn.MaxPool2d(2))


def test_pooling_before_relu_changes_no_number_and_no_gradient():
    torch.manual_seed(0)
    encoder = Conv4(size=32)
    published = copy.deepcopy(encoder)
    for place in range(1, 5):
        setattr(published, f"layer{place}", as_published(getattr(encoder, f"layer{place}")))
    # Flat parts: windows of four equal numbers, above 0 and below.
    images = torch.rand(6, 3, 32, 32).round(decimals=1)
    images[:, :, 8:24] = 0
    results = []
    for network in (encoder, published):
        z = network.train()(images)
        z.square().sum().backward()
        results.append([z, *(parameter.grad for parameter in network.parameters())])
    assert (results[0][0] == 0).any()
    assert all(torch.equal(one, two) for one, two in zip(*results, strict=True))


def test_refuses_less_than_sixteen_pixels():
    with pytest.raises(SettingError, match="16 pixels or more, got 15"):
        Conv4(size=15)

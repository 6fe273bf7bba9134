"""LeNet against the layers of its table row, one by one."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from samekind.encoders import LeNet
from samekind.errors import SettingError


def by_hand(encoder, x):
    """Conv 1-10 k5, pool 2, ReLU; conv 10-20 k5, pool 2, ReLU; dense 320-50, ReLU. Dropout is off."""
    first, _, _, second, *_ = encoder.layers
    dense = encoder.embedding[0]
    x = F.relu(F.max_pool2d(F.conv2d(x, first.weight, first.bias), 2))
    x = F.relu(F.max_pool2d(F.conv2d(x, second.weight, second.bias), 2))
    return F.relu(x.reshape(len(x), 320) @ dense.weight.T + dense.bias)


def test_agrees_with_the_layers():
    torch.manual_seed(0)
    encoder, x = LeNet().eval(), torch.rand(3, 1, 28, 28)
    torch.testing.assert_close(encoder(x), by_hand(encoder, x))


def test_has_the_parameters_of_the_layers():
    convolutions = (1 * 25 + 1) * 10 + (10 * 25 + 1) * 20
    assert sum(parameter.numel() for parameter in LeNet().parameters()) == convolutions + (320 + 1) * 50


def test_drops_whole_maps_after_the_second_convolution():
    layers = list(LeNet().layers)
    place = next(place for place, layer in enumerate(layers) if isinstance(layer, nn.Dropout2d))
    assert layers[place].p == 0.5
    assert isinstance(layers[place - 1], nn.Conv2d)
    assert layers[place - 1].out_channels == 20


def test_embeddings_are_never_negative():
    torch.manual_seed(0)
    assert (LeNet()(torch.randn(8, 1, 28, 28)) >= 0).all()


@pytest.mark.parametrize(("size", "features"), [(16, 20), (17, 20), (28, 320), (32, 500)])
def test_takes_sixteen_pixels_and_more(size, features):
    encoder = LeNet(size=size)
    assert encoder.features(torch.rand(2, 1, size, size)).shape == (2, features)


def test_refuses_fewer_pixels():
    with pytest.raises(SettingError, match="16 pixels or more, got 15"):
        LeNet(size=15)

"""An encoder that is told the original size of pictures."""

import math

import pytest
import torch

from samekind.decoding.size_plane import size_plane
from samekind.encoders import Attended, Conv4, ResNet18, Views, WithSize
from samekind.encoders.wrapping import network_of
from samekind.errors import DataError


def sized(colours, sides):
    """Pictures (n, 1 or 3, h, w) with the plane of (height, width) each."""
    rows, columns = colours.shape[2:]
    planes = [torch.as_tensor(size_plane(*side, rows=rows, columns=columns)) for side in sides]
    return torch.cat([colours, torch.stack(planes)[:, None] / 255], dim=1)


@pytest.fixture
def encoder():
    torch.manual_seed(0)
    return WithSize(encoder=Conv4(channels=3, size=16, dimension=5)).eval()


def test_it_begins_as_the_encoder_inside(encoder):
    colours = torch.rand(2, 3, 16, 16)
    assert torch.equal(encoder(sized(colours, [(10, 20), (300, 400)])), encoder.encoder(colours))


def test_a_linear_map_of_the_logarithms_is_added(encoder):
    torch.nn.init.normal_(encoder.size.weight)
    colours = torch.rand(1, 3, 16, 16).expand(2, -1, -1, -1)
    x = sized(colours, [(10, 20), (300, 400)])
    added = encoder(x) - encoder.encoder(colours)
    logs = torch.tensor([[math.log(20 / 100), math.log(10 / 100)], [math.log(4), math.log(3)]])
    torch.testing.assert_close(added, encoder.size(logs), atol=0.1, rtol=0)  # half a step of a byte
    torch.testing.assert_close(encoder.embedding(encoder.features(x)), encoder(x))
    assert encoder.features(x).shape == (2, encoder.feature_dimension)
    assert (encoder(x)[0] - encoder(x)[1]).norm() > 1


def test_the_network_sees_the_colours_alone(encoder):
    colours = torch.rand(1, 3, 16, 16)
    x = sized(colours, [(10, 20)])
    assert network_of(encoder) is encoder.encoder
    for name, value in encoder.maps(x).items():
        assert torch.equal(value, encoder.encoder.maps(colours)[name])
    assert encoder.stages()["embedding"] == [encoder.encoder.embedding, encoder.size]
    assert {*encoder.parameters()} == {
        weight
        for modules in encoder.stages().values()
        for module in modules
        for weight in module.parameters()
    }
    inner = Attended(backbone=ResNet18(channels=1, stem="cifar"), dimension=4).eval()
    grey = torch.rand(1, 1, 16, 16)
    attention = WithSize(encoder=inner).attention(sized(grey, [(9, 9)]))
    assert all(torch.equal(attention[name], value) for name, value in inner.attention(grey).items())


def test_views_inside_and_outside_say_the_same(encoder):
    torch.nn.init.normal_(encoder.size.weight)
    x = sized(torch.rand(2, 3, 16, 16), [(10, 20), (300, 400)])
    inside = WithSize(encoder=Views(encoder=encoder.encoder))
    inside.size = encoder.size
    torch.testing.assert_close(Views(encoder=encoder).eval()(x), inside.eval()(x))


def test_pictures_without_their_size_are_refused(encoder):
    with pytest.raises(
        DataError, match=r"with their original size, .* got \(1, 3, 16, 16\)\. Read them with"
    ):
        encoder(torch.rand(1, 3, 16, 16))

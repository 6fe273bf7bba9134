"""Another size and a mirrored copy when asked, and neither in training."""

import pytest
import torch

from samekind.encoders import ResNet12, Views
from samekind.encoders.views import resized
from samekind.errors import DataError


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return ResNet12(channels=1, dimension=4).eval()


@pytest.fixture(scope="module")
def pictures():
    return torch.rand(3, 1, 16, 16, generator=torch.Generator().manual_seed(0))


def test_the_mean_of_the_picture_and_its_mirrored_copy(network, pictures):
    views = Views(encoder=network).eval()
    expected = (network(pictures) + network(pictures.flip(3))) / 2
    torch.testing.assert_close(views(pictures), expected)
    torch.testing.assert_close(views(pictures.flip(3)), expected)  # it cannot tell the two apart


def test_pictures_are_resized_when_asked(network, pictures):
    views = Views(encoder=network, size=24, mirror=False).eval()
    torch.testing.assert_close(views(pictures), network(resized(pictures, 24)))
    assert resized(pictures, 24).shape == (3, 1, 24, 24)
    assert resized(pictures, 16) is pictures
    assert views(pictures[:0]).shape == (0, 4)
    with pytest.raises(DataError, match=r"takes pictures .* got \(3, 16\)"):
        views(pictures[:, 0, 0])


def test_a_constant_picture_keeps_its_value_at_another_size():
    torch.testing.assert_close(resized(torch.full((1, 1, 7, 9), 0.3), 5), torch.full((1, 1, 5, 5), 0.3))


def test_training_sees_the_pictures_as_they_are(network, pictures):
    views = Views(encoder=network, size=24)
    assert views.train().views(pictures) == [pictures]
    assert len(views.eval().views(pictures)) == 2


def test_the_middle_is_cut_out_and_a_crop_of_its_size_is_left_alone(network):
    pictures = torch.rand(3, 1, 20, 21, generator=torch.Generator().manual_seed(0))
    views = Views(encoder=network, mirror=False, middle=16)
    middle = pictures[:, :, 2:18, 2:18]
    torch.testing.assert_close(views.eval()(pictures), network(middle))
    torch.testing.assert_close(views.eval()(middle), network(middle))
    assert torch.equal(views.train().views(pictures)[0], middle)
    views.eval()
    assert views.maps(pictures).keys() == network.maps(pictures).keys()
    with pytest.raises(DataError, match="middle 16 pixels of pictures"):
        views(pictures[:, :, :10, :10])

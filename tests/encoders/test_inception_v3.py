"""Inception-v3: the published size and names, and the shapes on the way."""

import pytest
import torch

from samekind.encoders import InceptionV3
from samekind.errors import DataError


def size_of(module):
    return sum(each.numel() for each in module.parameters())


def test_has_the_published_number_of_parameters():
    # torchvision counts 27,161,264. Its auxiliary classifier has two convolutions with normalisation and a
    # linear layer, its classifier 2048 * 1000 + 1000.
    auxiliary = (768 * 128 + 2 * 128) + (128 * 768 * 25 + 2 * 768) + (768 * 1000 + 1000)
    with torch.device("meta"):
        assert size_of(InceptionV3()) == 27_161_264 - auxiliary - 2_049_000 == 23_834_568 - 2_049_000
        assert size_of(InceptionV3(dimension=128)) == size_of(InceptionV3()) + 2048 * 128 + 128


def test_maps_of_299_pixels():
    with torch.device("meta"):
        maps = InceptionV3().maps(torch.empty(2, 3, 299, 299))
    sides = {"stem": 35, "Mixed_5": 35, "Mixed_6": 17, "Mixed_7": 8}
    for name, each in maps.items():
        side = sides[name if name == "stem" else name[:-1]]
        assert each.shape[2:] == (side, side)
    assert maps["Mixed_7c"].shape == (2, 2048, 8, 8)


def test_layers_have_the_names_of_published_weights():
    with torch.device("meta"):
        names = set(InceptionV3().state_dict())
    assert {
        "Conv2d_1a_3x3.conv.weight",
        "Conv2d_4a_3x3.bn.running_var",
        "Mixed_5b.branch5x5_2.conv.weight",
        "Mixed_6e.branch7x7dbl_5.bn.weight",
        "Mixed_7c.branch3x3dbl_3b.bn.bias",
    } <= names


def test_refuses_images_that_would_vanish():
    with torch.device("meta"):
        encoder = InceptionV3()
        assert encoder(torch.empty(2, 3, 75, 75)).shape == (2, 2048)
        with pytest.raises(DataError, match="75 pixels or more"):
            encoder(torch.empty(2, 3, 74, 75))

"""Inception-v3: the published size and names, and the shapes on the way."""

import pytest
import torch

from samekind.encoders import InceptionV3
from samekind.errors import DataError


def size_of(module):
    return sum(parameter.numel() for parameter in module.parameters())


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
    for name, value in maps.items():
        side = sides[name if name == "stem" else name[:-1]]
        assert value.shape[2:] == (side, side)
    assert maps["Mixed_7c"].shape == (2, 2048, 8, 8)


# Channels in and out, height and width of the kernel, of every convolution of torchvision's, by its name.
STEM = {
    "Conv2d_1a_3x3": (3, 32, 3, 3),
    "Conv2d_2a_3x3": (32, 32, 3, 3),
    "Conv2d_2b_3x3": (32, 64, 3, 3),
    "Conv2d_3b_1x1": (64, 80, 1, 1),
    "Conv2d_4a_3x3": (80, 192, 3, 3),
}


def of_35(inputs, pooled):
    return {
        "branch1x1": (inputs, 64, 1, 1),
        "branch5x5_1": (inputs, 48, 1, 1),
        "branch5x5_2": (48, 64, 5, 5),
        "branch3x3dbl_1": (inputs, 64, 1, 1),
        "branch3x3dbl_2": (64, 96, 3, 3),
        "branch3x3dbl_3": (96, 96, 3, 3),
        "branch_pool": (inputs, pooled, 1, 1),
    }


def of_17(narrow):
    return {
        "branch1x1": (768, 192, 1, 1),
        "branch7x7_1": (768, narrow, 1, 1),
        "branch7x7_2": (narrow, narrow, 1, 7),
        "branch7x7_3": (narrow, 192, 7, 1),
        "branch7x7dbl_1": (768, narrow, 1, 1),
        "branch7x7dbl_2": (narrow, narrow, 7, 1),
        "branch7x7dbl_3": (narrow, narrow, 1, 7),
        "branch7x7dbl_4": (narrow, narrow, 7, 1),
        "branch7x7dbl_5": (narrow, 192, 1, 7),
        "branch_pool": (768, 192, 1, 1),
    }


def of_8(inputs):
    return {
        "branch1x1": (inputs, 320, 1, 1),
        "branch3x3_1": (inputs, 384, 1, 1),
        "branch3x3_2a": (384, 384, 1, 3),
        "branch3x3_2b": (384, 384, 3, 1),
        "branch3x3dbl_1": (inputs, 448, 1, 1),
        "branch3x3dbl_2": (448, 384, 3, 3),
        "branch3x3dbl_3a": (384, 384, 1, 3),
        "branch3x3dbl_3b": (384, 384, 3, 1),
        "branch_pool": (inputs, 192, 1, 1),
    }


MIXED = {
    "5b": of_35(192, 32),
    "5c": of_35(256, 64),
    "5d": of_35(288, 64),
    "6a": {
        "branch3x3": (288, 384, 3, 3),
        "branch3x3dbl_1": (288, 64, 1, 1),
        "branch3x3dbl_2": (64, 96, 3, 3),
        "branch3x3dbl_3": (96, 96, 3, 3),
    },
    "6b": of_17(128),
    "6c": of_17(160),
    "6d": of_17(160),
    "6e": of_17(192),
    "7a": {
        "branch3x3_1": (768, 192, 1, 1),
        "branch3x3_2": (192, 320, 3, 3),
        "branch7x7x3_1": (768, 192, 1, 1),
        "branch7x7x3_2": (192, 192, 1, 7),
        "branch7x7x3_3": (192, 192, 7, 1),
        "branch7x7x3_4": (192, 192, 3, 3),
    },
    "7b": of_8(1280),
    "7c": of_8(2048),
}


def test_published_weights_fit_by_name_and_shape():
    """But for those of the two classifiers, ``fc`` and ``AuxLogits``."""
    mixed = {f"Mixed_{name}.{unit}": value for name, units in MIXED.items() for unit, value in units.items()}
    expected = {}
    for name, (inputs, outputs, height, width) in {**STEM, **mixed}.items():
        expected[f"{name}.conv.weight"] = (outputs, inputs, height, width)
        for value in ("weight", "bias", "running_mean", "running_var"):
            expected[f"{name}.bn.{value}"] = (outputs,)
        expected[f"{name}.bn.num_batches_tracked"] = ()
    with torch.device("meta"):
        tensors = InceptionV3().state_dict()
    assert {name: tuple(tensor.shape) for name, tensor in tensors.items()} == expected


def test_refuses_images_that_would_vanish():
    with torch.device("meta"):
        encoder = InceptionV3()
        assert encoder(torch.empty(2, 3, 75, 75)).shape == (2, 2048)
        with pytest.raises(DataError, match="75 pixels or more"):
            encoder(torch.empty(2, 3, 74, 75))

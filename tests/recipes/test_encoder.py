"""Every shape of item gets an encoder that takes it."""

import pytest
import torch

from samekind.data import ArrayReader, Items
from samekind.recipes import RECIPES, suited
from samekind.recipes.encoder import encoder_for, pretrained_suits, standardise_for
from samekind.training import Part, build_space


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((6,), Part("MLP", {"dimension": 7})),
        ((4, 5), Part("MLP", {"dimension": 7})),
        ((1, 8, 8), Part("SmallConvnet", {"dimension": 7})),
        ((3, 8, 8), Part("SmallConvnet", {"dimension": 7})),
        ((3, 28, 28), Part("SmallConvnet", {"dimension": 7})),
        ((1, 32, 32), Part("SmallConvnet", {"dimension": 7})),
        ((1, 28, 28), Part("LeNet", {"dimension": 7})),
        ((3, 32, 32), Part("ResNet18", {"stem": "cifar", "dimension": 7})),
        ((3, 33, 33), Part("ResNet18", {"stem": "imagenet", "dimension": 7})),
        ((1, 64, 64), Part("ResNet18", {"stem": "imagenet", "dimension": 7})),
        ((1, 20, 30), Part("ResNet18", {"stem": "cifar", "dimension": 7})),
        ((1, 40, 20), Part("ResNet18", {"stem": "imagenet", "dimension": 7})),
    ],
    ids=str,
)
def test_the_shape_decides(shape, expected):
    assert encoder_for(shape, dimension=7) == expected
    assert encoder_for(list(shape), dimension=7) == expected


@pytest.mark.parametrize(
    "shape", [(6,), (1, 8, 8), (1, 28, 28), (3, 32, 32), (1, 64, 64), (1, 20, 30), (1, 40, 20)], ids=str
)
def test_what_is_chosen_takes_such_items(shape, run_with):
    items = Items(torch.rand(2, *shape), torch.tensor([0, 1]), ("a", "b"), "items")
    space = build_space(run_with(encoder_for(shape, dimension=7)), items).eval()
    with torch.no_grad():
        assert space.embed(items.inputs).shape == (2, 7)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((6,), "features"),
        ((4, 5), "none"),
        ((1, 8, 8), "none"),
        ((3, 64, 64), "none"),
        ((2, 8, 8), "channels"),
    ],
)
def test_vectors_and_arrays_are_standardised_and_pictures_are_not(shape, expected):
    assert standardise_for(shape) == expected


@pytest.mark.parametrize("reader", [ArrayReader(shape=(1, 80, 100)), None], ids=["reader", "values"])
def test_spectrograms_get_a_network_of_their_own(run_with, reader):
    """Arrays with one channel are not photographs, however many there are."""
    inputs = torch.randn(4, 1, 80, 100) * 3 - 5
    _check_spectrograms(
        Items(inputs, torch.tensor([0, 1, 0, 1]), ("a", "b"), "voices", reader=reader), run_with
    )


def test_long_floats_of_one_channel_get_a_network_of_their_own(run_with):
    inputs = torch.rand(4, 1, 70, 300)
    _check_spectrograms(Items(inputs, torch.tensor([0, 1, 0, 1]), ("a", "b"), "voices"), run_with)


def _check_spectrograms(items, run_with):
    assert encoder_for(items, dimension=7) == Part("ResNet18", {"stem": "miniimagenet", "dimension": 7})
    assert standardise_for(items) == "channels"
    assert not pretrained_suits(items)
    for name, recipe in RECIPES.items():
        run = suited(recipe(items), items, items=4)
        assert run.augment == (), name
        assert run.space.encoder.name in ("ResNet18", "Attended"), name
        assert "EfficientNetLite" not in str(run.space.encoder), name
    space = build_space(run_with(encoder_for(items, dimension=7)), items).eval()
    assert space.reader.medium.name == "arrays"
    with torch.no_grad():
        assert space.embed(items.inputs).shape == (4, 7)

"""Wide ResNet: the published size, the shapes, what depth and width mean."""

import pytest
import torch
from torch import nn

from samekind.encoders import WideResNet
from samekind.errors import SettingError


def size_of(module):
    return sum(each.numel() for each in module.parameters())


def test_has_the_published_number_of_parameters():
    # WRN-28-10, 36.5 million: 36,479,194 with the classifier of ten classes, which has 640 * 10 + 10.
    # WRN-16-8, 11.0 million: 10,961,370 with 512 * 10 + 10; WRN-40-2, 2.2 million: 2,243,546 with 128 *
    # 10 + 10.
    with torch.device("meta"):
        assert size_of(WideResNet()) == 36_479_194 - 6_410
        assert size_of(WideResNet(depth=16, width=8)) == 10_961_370 - 5_130
        assert size_of(WideResNet(depth=40, width=2)) == 2_243_546 - 1_290


@pytest.mark.parametrize("depth", [10, 28])
def test_depth_counts_the_convolutions_shortcuts_included(depth):
    with torch.device("meta"):
        encoder = WideResNet(depth=depth, width=2)
    assert sum(isinstance(each, nn.Conv2d) for each in encoder.modules()) == depth


def test_maps_of_a_cifar_image():
    with torch.device("meta"):
        maps = WideResNet().maps(torch.empty(2, 3, 32, 32))
    shapes = {name: tuple(each.shape[1:]) for name, each in maps.items()}
    assert shapes == {
        "stem": (16, 32, 32),
        "layer1": (160, 32, 32),
        "layer2": (320, 16, 16),
        "layer3": (640, 8, 8),
        "active": (640, 8, 8),
    }


def test_the_pooled_map_is_active_and_the_one_before_is_not():
    torch.manual_seed(0)
    with torch.no_grad():
        maps = WideResNet(depth=10, width=1).maps(torch.rand(4, 3, 8, 8))
    assert (maps["active"] >= 0).all()
    assert maps["layer3"].min() < 0


def test_every_block_has_the_dropout():
    with torch.device("meta"):
        encoder = WideResNet(depth=10, width=1, dropout=0.25)
    assert [each.p for each in encoder.modules() if isinstance(each, nn.Dropout)] == [0.25] * 3


@pytest.mark.parametrize(
    ("wrong", "says"), [({"depth": 4}, "got 4"), ({"depth": 27}, "6 x blocks"), ({"dropout": 1.0}, "below 1")]
)
def test_refuses_what_cannot_be(wrong, says):
    with pytest.raises(SettingError, match=says):
        WideResNet(**wrong)

"""ResNet-18: the published size, the shapes on the way, the block by hand."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from samekind.encoders import ResNet18
from samekind.encoders.resnet import Block
from samekind.errors import SettingError


def size_of(module):
    return sum(each.numel() for each in module.parameters())


def test_has_the_published_number_of_parameters():
    # 11,689,512 with the classifier of 1000 classes, which has 512 * 1000 + 1000.
    assert size_of(ResNet18(stem="imagenet")) == 11_689_512 - 513_000


def test_the_small_stem_differs_by_its_kernel_alone():
    def block(inputs, outputs):
        """Two convolutions and two normalisations, and a projected shortcut where the width changes."""
        shortcut = inputs * outputs + 2 * outputs if inputs != outputs else 0
        return 9 * inputs * outputs + 9 * outputs * outputs + 4 * outputs + shortcut

    widths = [64, 64, 64, 128, 128, 256, 256, 512, 512]
    by_hand = 9 * 3 * 64 + 2 * 64 + sum(map(block, widths[:-1], widths[1:]))
    assert by_hand == 11_168_832
    assert size_of(ResNet18()) == by_hand
    assert size_of(ResNet18(dimension=10)) == by_hand + 512 * 10 + 10


@pytest.mark.parametrize(("stem", "side"), [("cifar", 4), ("imagenet", 1)])
def test_the_stem_decides_how_much_is_left_of_32_pixels(stem, side):
    encoder = ResNet18(stem=stem).eval()
    maps = []
    encoder.layer4.register_forward_hook(lambda _module, _inputs, output: maps.append(output))
    with torch.no_grad():
        features = encoder.features(torch.rand(1, 3, 32, 32))
    assert maps[0].shape == (1, 512, side, side)
    torch.testing.assert_close(features, maps[0].flatten(2).mean(2))


def test_with_512_dimensions_the_embeddings_are_the_features():
    torch.manual_seed(0)
    encoder, images = ResNet18().eval(), torch.rand(2, 3, 16, 16)
    with torch.no_grad():
        assert torch.equal(encoder(images), encoder.features(images))


def test_takes_images_that_are_not_square():
    with torch.no_grad():
        assert ResNet18(dimension=5).eval()(torch.rand(1, 3, 16, 24)).shape == (1, 5)


@pytest.mark.parametrize(("outputs", "stride"), [(4, 1), (6, 2)])
def test_a_block_adds_its_shortcut_before_the_last_relu(outputs, stride):
    torch.manual_seed(0)
    block, x = Block(4, outputs, stride=stride).eval(), torch.randn(2, 4, 6, 6)
    # Fresh batch normalisation in evaluation mode divides by sqrt(1 + epsilon) and does no more.
    scale = (1 + block.bn1.eps) ** -0.5
    inner = F.relu(F.conv2d(x, block.conv1.weight, stride=stride, padding=1) * scale)
    inner = F.conv2d(inner, block.conv2.weight, padding=1) * scale
    shortcut = x
    if stride == 2:
        shortcut = F.conv2d(x, block.downsample[0].weight, stride=stride) * scale
    torch.testing.assert_close(block(x), F.relu(inner + shortcut))


def test_convolutions_start_with_the_variance_of_the_paper():
    torch.manual_seed(0)
    for module in ResNet18().modules():
        if isinstance(module, nn.Conv2d):
            fan_out = module.out_channels * module.kernel_size[0] ** 2
            assert module.weight.std().item() == pytest.approx((2 / fan_out) ** 0.5, rel=0.08)


def test_refuses_another_stem():
    with pytest.raises(SettingError, match='"cifar" or "imagenet"; got "mnist"'):
        ResNet18(stem="mnist")

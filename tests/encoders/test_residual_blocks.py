"""Residual blocks by hand. Fresh batch normalisation in evaluation mode only divides by sqrt(1 + epsilon)."""

import pytest
import torch
import torch.nn.functional as F

from samekind.encoders.residual_blocks import (
    BasicBlock,
    Bottleneck,
    LeakyBlock,
    PreActivationBlock,
    layers,
)

SCALE = (1 + 1e-5) ** -0.5


@pytest.mark.parametrize(("outputs", "stride"), [(4, 1), (6, 2), (6, 1), (4, 2)])
def test_a_basic_block_adds_its_shortcut_before_the_last_relu(outputs, stride):
    torch.manual_seed(0)
    block, x = BasicBlock(4, outputs, stride=stride).eval(), torch.randn(2, 4, 6, 6)
    inner = F.relu(F.conv2d(x, block.conv1.weight, stride=stride, padding=1) * SCALE)
    inner = F.conv2d(inner, block.conv2.weight, padding=1) * SCALE
    shortcut = x
    if (outputs, stride) != (4, 1):
        shortcut = F.conv2d(x, block.downsample[0].weight, stride=stride) * SCALE
    torch.testing.assert_close(block(x), F.relu(inner + shortcut))


@pytest.mark.parametrize(("width", "stride"), [(1, 1), (2, 2)])
def test_a_bottleneck_widens_four_times_and_strides_in_the_middle(width, stride):
    torch.manual_seed(0)
    block, x = Bottleneck(4, width, stride=stride).eval(), torch.randn(2, 4, 6, 6)
    inner = F.relu(F.conv2d(x, block.conv1.weight) * SCALE)
    inner = F.relu(F.conv2d(inner, block.conv2.weight, stride=stride, padding=1) * SCALE)
    inner = F.conv2d(inner, block.conv3.weight) * SCALE
    shortcut = x if width == 1 else F.conv2d(x, block.downsample[0].weight, stride=stride) * SCALE
    assert inner.shape[1] == 4 * width
    torch.testing.assert_close(block(x), F.relu(inner + shortcut))


@pytest.mark.parametrize(("outputs", "stride"), [(4, 1), (6, 2)])
def test_a_pre_activation_block_ends_with_the_sum(outputs, stride):
    torch.manual_seed(0)
    block, x = PreActivationBlock(4, outputs, stride=stride).eval(), torch.randn(2, 4, 6, 6)
    active = F.relu(x * SCALE)
    inner = F.relu(F.conv2d(active, block.conv1.weight, stride=stride, padding=1) * SCALE)
    inner = F.conv2d(inner, block.conv2.weight, padding=1)
    shortcut = x if stride == 1 else F.conv2d(active, block.shortcut.weight, stride=stride)
    torch.testing.assert_close(block(x), inner + shortcut)
    assert block(x).min() < 0


def test_dropout_lies_between_the_convolutions_and_leaves_the_shortcut_alone():
    torch.manual_seed(0)
    block, x = PreActivationBlock(4, 4, stride=1, dropout=0.999999), torch.randn(2, 4, 6, 6)
    torch.testing.assert_close(block(x), x)


def test_a_leaky_block_by_hand():
    torch.manual_seed(0)
    block, x = LeakyBlock(3, 4).eval(), torch.randn(2, 3, 7, 7)
    inner = x
    for convolution in (block.conv1, block.conv2):
        inner = F.conv2d(inner, convolution.weight, padding=1) * SCALE
        inner = torch.where(inner > 0, inner, 0.1 * inner)
    summed = F.conv2d(inner, block.conv3.weight, padding=1) * SCALE
    summed = summed + F.conv2d(x, block.downsample[0].weight) * SCALE
    pooled = F.max_pool2d(torch.where(summed > 0, summed, 0.1 * summed), 2)
    assert pooled.shape == (2, 4, 3, 3)
    torch.testing.assert_close(block(x), pooled)


def test_layers_halve_the_side_in_their_first_block_but_for_the_first_layer():
    first, second = layers(BasicBlock, 3, widths=(3, 5), depths=(2, 3))
    assert (first.name, second.name, first.channels, second.channels) == ("layer1", "layer2", 3, 5)
    blocks = [*first.modules["layer1"], *second.modules["layer2"]]
    assert [block.conv1.stride[0] for block in blocks] == [1, 1, 2, 1, 1]
    assert [block.conv1.in_channels for block in blocks] == [3, 3, 3, 5, 5]


def test_an_expansion_widens_what_a_layer_gives():
    [layer] = layers(Bottleneck, 64, widths=(64,), depths=(3,), expansion=4)
    assert layer.channels == 256
    assert layer.modules["layer1"](torch.rand(1, 64, 8, 8)).shape == (1, 256, 8, 8)

"""Residual blocks by hand. Fresh batch normalisation in evaluation mode only divides by sqrt(1 + epsilon)."""

import pytest
import torch
import torch.nn.functional as F

from samekind.encoders.residual_blocks import (
    BasicBlock,
    Bottleneck,
    PreActivationBlock,
    in_a_row,
    start_convolutions,
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


def test_blocks_in_a_row_stride_once():
    row = in_a_row(BasicBlock, 3, 5, outputs=5, count=3, stride=2)
    assert [block.conv1.stride for block in row] == [(2, 2), (1, 1), (1, 1)]
    assert [block.conv1.in_channels for block in row] == [3, 5, 5]
    assert row(torch.rand(1, 3, 8, 8)).shape == (1, 5, 4, 4)


def test_convolutions_start_with_the_variance_of_the_paper():
    torch.manual_seed(0)
    block = BasicBlock(64, 64, stride=1)
    start_convolutions(block)
    assert block.conv1.weight.std().item() == pytest.approx((2 / (64 * 9)) ** 0.5, rel=0.02)
    assert block.conv1.weight.mean().item() == pytest.approx(0, abs=1e-3)

"""ResNet-12: the published size, the shapes, the block by hand."""

import pytest
import torch
import torch.nn.functional as F

from samekind.encoders import ResNet12
from samekind.encoders.resnet12 import LeakyBlock
from samekind.errors import DataError


def test_has_the_published_number_of_parameters():
    # 12.4 million for the features alone: 12,424,320.
    with torch.device("meta"):
        encoder = ResNet12()
    assert sum(each.numel() for each in encoder.parameters()) == 12_424_320


def test_maps_of_84_pixels():
    with torch.device("meta"):
        maps = ResNet12().maps(torch.empty(2, 3, 84, 84))
    assert [tuple(each.shape[1:]) for each in maps.values()] == [
        (64, 42, 42),
        (160, 21, 21),
        (320, 10, 10),
        (640, 5, 5),
    ]


def test_a_block_by_hand():
    torch.manual_seed(0)
    block, x = LeakyBlock(3, 4).eval(), torch.randn(2, 3, 7, 7)
    scale = (1 + 1e-5) ** -0.5  # fresh batch normalisation does no more
    inner = x
    for convolution in (block.conv1, block.conv2):
        inner = F.conv2d(inner, convolution.weight, padding=1) * scale
        inner = torch.where(inner > 0, inner, 0.1 * inner)
    summed = F.conv2d(inner, block.conv3.weight, padding=1) * scale
    summed = summed + F.conv2d(x, block.downsample[0].weight) * scale
    pooled = F.max_pool2d(torch.where(summed > 0, summed, 0.1 * summed), 2)
    assert pooled.shape == (2, 4, 3, 3)
    torch.testing.assert_close(block(x), pooled)


def test_refuses_images_that_would_vanish():
    encoder = ResNet12()
    with pytest.raises(DataError, match="16 pixels or more"):
        encoder(torch.rand(2, 3, 16, 15))

"""BN-Inception: the published size, the maps papers attend to, odd sides."""

import pytest
import torch

from samekind.encoders import BNInception
from samekind.encoders.bn_inception import InceptionModule
from samekind.errors import DataError


def test_has_the_published_number_of_parameters():
    # 11.3 million: 11,295,240 with the classifier of 1000 classes, which has 1024 * 1000 + 1000.
    with torch.device("meta"):
        encoder = BNInception()
    assert sum(parameter.numel() for parameter in encoder.parameters()) == 11_295_240 - 1_025_000


@pytest.mark.parametrize("side", [224, 227])
def test_maps_as_the_papers_have_them(side):
    with torch.device("meta"):
        maps = BNInception().maps(torch.empty(2, 3, side, side))
    shapes = {name: tuple(value.shape[1:]) for name, value in maps.items()}
    assert shapes["stem"] == (192, 28, 28)
    assert shapes["inception_3c"] == (576, 14, 14)
    assert shapes["inception_4d"] == (608, 14, 14)
    assert shapes["inception_4e"] == (1056, 7, 7)
    assert shapes["inception_5a"] == shapes["inception_5b"] == (1024, 7, 7)


def module(*, halving):
    torch.manual_seed(0)
    return InceptionModule(
        4,
        one_by_one=0 if halving else 2,
        three_by_three=(3, 5),
        two_threes=(3, 6),
        pool="max" if halving else "average",
        projection=0 if halving else 7,
    ).eval()


def test_a_module_concatenates_its_branches():
    inception, x = module(halving=False), torch.rand(2, 4, 5, 5)
    output = inception(x)
    assert output.shape == (2, 2 + 5 + 6 + 7, 5, 5)
    assert inception.outputs == 20
    assert torch.equal(output[:, :2], inception.one_by_one(x))
    assert torch.equal(output[:, 2:7], inception.three_by_three(x))
    assert torch.equal(output[:, 7:13], inception.two_threes(x))
    # The average of a corner counts the padding: nine places, four of them there.
    pooled = torch.nn.functional.avg_pool2d(x, 3, stride=1, padding=1)
    torch.testing.assert_close(pooled[:, :, 0, 0], x[:, :, :2, :2].sum((2, 3)) / 9)
    torch.testing.assert_close(output[:, 13:], inception.projection(pooled))


@pytest.mark.parametrize("side", [1, 2, 5, 6])
def test_a_halving_module_passes_the_largest_of_each_window_on(side):
    inception, x = module(halving=True), torch.rand(2, 4, side, side)
    pooled = inception(x)[:, 11:]
    half = (side + 1) // 2
    by_hand = [[x[:, :, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3] for j in range(half)] for i in range(half)]
    expected = torch.stack(
        [torch.stack([window.amax((2, 3)) for window in row], dim=2) for row in by_hand], dim=2
    )
    assert torch.equal(pooled, expected)


def test_takes_seven_pixels_and_more():
    with torch.device("meta"):
        encoder = BNInception()
        for side in (7, 8, 33, 57, 100):
            assert encoder(torch.empty(2, 3, side, side)).shape == (2, 1024)
        with pytest.raises(DataError, match="7 pixels or more"):
            encoder(torch.empty(2, 3, 6, 6))

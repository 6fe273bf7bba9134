"""Mirror images, pixel by pixel."""

import pytest
import torch

from samekind.augmentations import Flip
from samekind.errors import SettingError


def test_every_image_is_itself_or_its_mirror(images, chances):
    x = images(count=64)
    flipped = Flip()(x, generator=chances())
    mirrored = [torch.equal(one, other.flip(-1)) for one, other in zip(flipped, x, strict=True)]
    unchanged = [torch.equal(one, other) for one, other in zip(flipped, x, strict=True)]
    assert all(a != b for a, b in zip(mirrored, unchanged, strict=True))
    assert 20 < sum(mirrored) < 44


@pytest.mark.parametrize(
    ("options", "dimensions"),
    [({}, [-1]), ({"vertical": True}, [-1, -2]), ({"horizontal": False, "vertical": True}, [-2])],
)
def test_with_certainty(options, dimensions, images, chances):
    x = images()
    assert torch.equal(Flip(probability=1.0, **options)(x, generator=chances()), x.flip(dimensions))


def test_the_two_are_independent(images, chances):
    x = images(count=1).repeat(64, 1, 1, 1)
    flipped = Flip(vertical=True)(x, generator=chances())
    assert len(flipped.flatten(1).unique(dim=0)) == 4


def test_neither_is_refused():
    with pytest.raises(SettingError, match="got neither"):
        Flip(horizontal=False)

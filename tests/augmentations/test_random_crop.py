"""Windows are cut out as they are, anywhere in the image."""

import pytest
import torch

from samekind.augmentations import RandomCrop
from samekind.errors import DataError, SettingError


def test_every_window_is_a_part_of_its_image_and_all_places_occur(images, chances):
    x = images(count=200, height=6, width=7)
    seen = RandomCrop(size=5)(x, generator=chances())
    assert seen.shape == (200, x.shape[1], 5, 5)
    places = set()
    for whole, window in zip(x, seen, strict=True):
        where = [
            (top, left)
            for top in range(2)
            for left in range(3)
            if torch.equal(whole[:, top : top + 5, left : left + 5], window)
        ]
        assert len(where) == 1
        places.add(where[0])
    assert len(places) == 6


def test_a_window_as_large_as_the_image_is_the_image(images, chances):
    x = images(count=3, height=5, width=5)
    assert torch.equal(RandomCrop(size=5)(x, generator=chances()), x)


def test_seven_eighths_are_cut_out_by_default(images, chances):
    assert RandomCrop()(images(count=2, height=16, width=24), generator=chances()).shape[2:] == (14, 14)


def test_mistakes(images, chances):
    with pytest.raises(SettingError, match="size: expected 1 pixel or more; got 0"):
        RandomCrop(size=0)
    with pytest.raises(DataError, match="cuts 9 pixels out of each image, and these have 5 x 5"):
        RandomCrop(size=9)(images(count=1, height=5, width=5), generator=chances())

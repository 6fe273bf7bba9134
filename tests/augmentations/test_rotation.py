"""Turned images, against Pillow."""

import pytest
import torch
from PIL import Image

from samekind.augmentations import Rotation
from samekind.augmentations.draws import uniform
from samekind.errors import SettingError


def test_it_turns_as_pillow_does(images, chances, as_picture):
    x = images(count=4, height=24, width=24)
    turned = Rotation(degrees=60)(x, generator=chances(5))
    for image, result, angle in zip(x, turned, uniform(4, -60, 60, generator=chances(5)), strict=True):
        expected = as_picture(as_picture(image).rotate(float(angle), resample=Image.Resampling.BILINEAR))
        # Pillow treats the outermost half pixel in its own way.
        apart = (result - expected).abs()[:, 7:-7, 7:-7]
        assert apart.max() < 3 / 255


def test_0_degrees_change_nothing(images, chances):
    x = images()
    torch.testing.assert_close(Rotation(degrees=0)(x, generator=chances()), x, atol=1e-6, rtol=0)


def test_the_angles_go_both_ways_up_to_the_limit(chances):
    matrices = Rotation(degrees=20).matrices(torch.empty(500, 1, 2, 2), generator=chances())
    angles = torch.rad2deg(torch.atan2(matrices[:, 1, 0], matrices[:, 0, 0]))
    assert -20 <= angles.min() < -19
    assert 19 < angles.max() <= 20


def test_more_than_half_a_turn_is_refused():
    with pytest.raises(SettingError, match="degrees: expected a number from 0 to 180, got 181"):
        Rotation(degrees=181)

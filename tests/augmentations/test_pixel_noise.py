"""Normal noise on images: its size, and its limits."""

import pytest
import torch

from samekind.augmentations import PixelNoise
from samekind.errors import SettingError


def test_the_noise_has_the_deviation_and_a_mean_of_zero():
    grey = torch.full((4, 1, 64, 64), 0.5)
    noise = PixelNoise(deviation=0.1)(grey, generator=torch.Generator().manual_seed(0)) - grey
    assert noise.std().item() == pytest.approx(0.1, rel=0.02)
    assert noise.mean().item() == pytest.approx(0, abs=0.003)
    assert not torch.equal(noise[0], noise[1])


def test_pixels_stay_in_their_range_and_some_images_may_stay_as_they_are():
    white = torch.ones(200, 1, 3, 3)
    changed = PixelNoise(deviation=1.0, probability=0.5)(white, generator=torch.Generator().manual_seed(0))
    assert 0 <= float(changed.min()) < float(changed.max()) == 1
    assert 60 < int((changed == white).flatten(1).all(1).sum()) < 140


def test_a_negative_deviation_is_refused():
    with pytest.raises(SettingError, match="deviation"):
        PixelNoise(deviation=-0.1)

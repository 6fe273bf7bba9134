"""Tones as Pillow changes them."""

import pytest
import torch
from PIL import ImageEnhance, ImageOps

from samekind.augmentations.tones import equalised, posterised, sharpened, solarised, stretched


def dull(x):
    """Images in whose tones there is something to gain."""
    return ((x * 0.4 + 0.2) * 255).round() / 255


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("bits", [8, 6, 4, 1])
def test_posterised(bits, channels, images, as_picture):
    x = images(count=2, channels=channels)
    for image, result in zip(x, posterised(x, bits), strict=True):
        torch.testing.assert_close(result, as_picture(ImageOps.posterize(as_picture(image), bits)))


@pytest.mark.parametrize("level", [0, 100, 255])
def test_solarised(level, images, as_picture):
    x = images(count=2)
    for image, result in zip(x, solarised(x, level / 255), strict=True):
        torch.testing.assert_close(result, as_picture(ImageOps.solarize(as_picture(image), level)))


@pytest.mark.parametrize("channels", [1, 3])
def test_stretched(channels, images, as_picture):
    x = dull(images(count=2, channels=channels))
    for image, result in zip(x, stretched(x), strict=True):
        assert (result - as_picture(ImageOps.autocontrast(as_picture(image)))).abs().max() < 1.5 / 255


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("size", [12, 40])
def test_equalised_to_the_level(size, channels, images, as_picture):
    x = dull(images(count=3, channels=channels, height=size, width=size))
    for image, result in zip(x, equalised(x), strict=True):
        torch.testing.assert_close(result, as_picture(ImageOps.equalize(as_picture(image))))


def test_equalising_makes_tones_equally_frequent(images):
    tones = equalised(dull(images(count=1, channels=1, height=64, width=64)))
    counts = (tones * 3.999).long().flatten().bincount(minlength=4) / tones.numel()
    torch.testing.assert_close(counts, torch.full((4,), 0.25), atol=0.06, rtol=0)


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_an_even_image_stays_even(value):
    x = torch.full((1, 3, 20, 20), value)
    torch.testing.assert_close(stretched(x), x)
    torch.testing.assert_close(equalised(x), x, atol=0.51 / 255, rtol=0)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("factor", [0.0, 0.5, 1.0, 1.9])
def test_sharpened(factor, channels, images, as_picture):
    x = images(count=2, channels=channels)
    for image, result in zip(x, sharpened(x, torch.full((2,), factor)), strict=True):
        expected = as_picture(ImageEnhance.Sharpness(as_picture(image)).enhance(factor))
        assert (result - expected).abs().max() < 1.6 / 255

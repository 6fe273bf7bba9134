"""Brightness, contrast and saturation as Pillow has them, hue as colorsys has it."""

import colorsys
import itertools

import pytest
import torch
from PIL import ImageEnhance, ImageOps

from samekind.augmentations.colours import grey, hue_shifted, recoloured

PEERS = {
    "brightness": ImageEnhance.Brightness,
    "contrast": ImageEnhance.Contrast,
    "saturation": ImageEnhance.Color,
}


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("factor", [0.0, 0.4, 1.0, 1.7])
def test_pillow_agrees(name, factor, images, as_picture):
    x = images(count=2)
    changed = recoloured(x, [(name, torch.full((2,), factor))])
    for image, result in zip(x, changed, strict=True):
        expected = as_picture(PEERS[name](as_picture(image)).enhance(factor))
        assert (result - expected).abs().max() < 2.5 / 255  # Pillow rounds and cuts off at every step


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_several_changes_equal_those_one_after_another(channels, images):
    """If nothing is clipped on the way."""
    x = images(channels=channels).double() * 0.2 + 0.4
    factors = {name: torch.linspace(0.6, 1.4, 6).roll(place) for place, name in enumerate(PEERS)}
    for order in itertools.permutations(PEERS):
        expected = x
        for name in order:
            expected = recoloured(expected, [(name, factors[name])])
        assert 0 < expected.min() < expected.max() < 1
        torch.testing.assert_close(recoloured(x, [(name, factors[name]) for name in order]), expected)


def test_each_image_has_its_own_amount(images):
    x = images(count=3)
    amounts = torch.tensor([0.5, 1.0, 1.5])
    changes = [lambda x, amounts, name=name: recoloured(x, [(name, amounts)]) for name in PEERS]
    for change in [*changes, hue_shifted]:
        alone = torch.cat([change(x[i : i + 1], amounts[i : i + 1]) for i in range(3)])
        torch.testing.assert_close(change(x, amounts), alone)


def test_no_change_is_a_copy(images):
    x = images()
    torch.testing.assert_close(recoloured(x, []), x)


def test_grey_is_that_of_pillow(images, as_picture):
    x = images(count=1)
    assert (grey(x)[0] - as_picture(ImageOps.grayscale(as_picture(x[0])))).abs().max() < 1.5 / 255
    one = images(count=1, channels=1)
    assert torch.equal(grey(one), one)


def test_saturation_leaves_grey_images_alone(images):
    x = images(channels=1)
    torch.testing.assert_close(recoloured(x, [("saturation", torch.full((6,), 1.8))]), x)


@pytest.mark.parametrize("turns", [-0.5, -0.1, 0.0, 1 / 3, 0.5])
def test_the_hue_moves_along_the_circle(turns, images):
    greys = torch.tensor([0.0, 0.5, 1.0]).expand(1, 3, 3)
    x = torch.cat([images(count=1, height=4, width=4).flatten(2), greys], dim=2)[..., None]
    moved = hue_shifted(x, torch.tensor([turns]))
    for pixel, result in zip(x[0, :, :, 0].T, moved[0, :, :, 0].T, strict=True):
        hue, saturation, value = colorsys.rgb_to_hsv(*pixel.tolist())
        expected = colorsys.hsv_to_rgb((hue + turns) % 1, saturation, value)
        assert result.tolist() == pytest.approx(expected, abs=1e-5)


def test_grey_images_have_no_hue(images):
    x = images(channels=1)
    assert hue_shifted(x, torch.full((6,), 0.3)) is x

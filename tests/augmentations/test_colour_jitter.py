"""Colours changed by factors in the range asked for."""

import pytest
import torch

from samekind.augmentations import ColourJitter
from samekind.augmentations.colours import hue_shifted, recoloured
from samekind.augmentations.draws import uniform
from samekind.errors import SettingError

ALONE = {"brightness": 0.0, "contrast": 0.0, "saturation": 0.0, "hue": 0.0}


def jittered(x, **options):
    return ColourJitter(**{**ALONE, **options})(x, generator=torch.Generator().manual_seed(0))


def test_neutral_settings_change_nothing(images):
    x = images()
    assert torch.equal(jittered(x), x)


def test_brightness_factors_fill_their_range():
    factors = jittered(torch.full((500, 3, 2, 2), 0.5), brightness=0.4)[:, 0, 0, 0] / 0.5
    assert 0.6 <= factors.min() < 0.62
    assert 1.38 < factors.max() <= 1.4 + 1e-6
    dark = jittered(torch.full((500, 3, 2, 2), 0.2), brightness=3.0)[:, 0, 0, 0] / 0.2
    assert 0 <= dark.min() < 0.05, "no factor is below 0"


def test_each_setting_changes_what_it_names(images):
    x = images(count=4) * 0.5 + 0.25
    even = torch.full((4, 3, 5, 5), 0.5)
    grey = images(count=4, channels=1).expand(-1, 3, -1, -1)
    assert not torch.allclose(jittered(even, brightness=0.4), even)
    torch.testing.assert_close(jittered(even, contrast=0.4), even)
    assert not torch.allclose(jittered(grey, contrast=0.4), grey)
    torch.testing.assert_close(jittered(grey, saturation=0.4), grey)
    torch.testing.assert_close(jittered(grey, hue=0.4), grey)
    for name in ("saturation", "hue"):
        assert not torch.allclose(jittered(x, **{name: 0.4}), x)
    changed = jittered(x, hue=0.5)
    torch.testing.assert_close(changed.amax(1), x.amax(1))


def test_the_changes_come_in_an_order_that_is_drawn(images, chances):
    """One after another, on images so grey that nothing is cut off on the way."""
    x, orders = images() * 0.05 + 0.4, set()
    names = ("brightness", "contrast", "saturation", "hue")
    for seed in range(8):
        generator, expected = chances(seed), x
        order = torch.randperm(4, generator=generator).tolist()
        for place in order:
            if place == 3:
                expected = hue_shifted(expected, uniform(6, -0.2, 0.2, generator=generator))
            else:
                factors = uniform(6, 0.6, 1.4, generator=generator)
                expected = recoloured(expected, [(names[place], factors)])
        torch.testing.assert_close(ColourJitter(hue=0.2)(x, generator=chances(seed)), expected)
        orders.add(tuple(order))
    assert len(orders) > 2


@pytest.mark.parametrize("wrong", [{"brightness": -1.0}, {"contrast": float("inf")}, {"hue": 0.6}], ids=str)
def test_refuses_impossible_settings(wrong):
    with pytest.raises(SettingError, match=f"{next(iter(wrong))}: expected a number from 0"):
        ColourJitter(**wrong)

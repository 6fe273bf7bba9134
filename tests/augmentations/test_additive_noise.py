"""The noise of the paper: uniform, of a few strengths, cut off at the ends."""

import pytest
import torch

from samekind.augmentations import AdditiveNoise
from samekind.errors import SettingError


def test_half_of_the_images_get_noise_of_one_of_the_strengths(chances):
    x = torch.full((600, 1, 30, 30), 0.25)
    added = (AdditiveNoise()(x, generator=chances()) - x).flatten(1)
    noisy = added.amax(1) > 0
    assert noisy.double().mean().item() == pytest.approx(0.5, abs=0.06)
    assert (added >= 0).all()
    strongest = added[noisy].amax(1)
    for factor in (0.1, 0.2, 0.3):
        near = (strongest - factor).abs() < 0.005
        assert near.double().mean().item() == pytest.approx(1 / 3, abs=0.08)
        numbers = added[noisy][near].flatten() / factor
        assert numbers.mean().item() == pytest.approx(0.5, abs=0.01)
        assert numbers.std().item() == pytest.approx(12**-0.5, abs=0.01)


def test_every_image_is_cut_off_noisy_or_not(chances):
    x = torch.tensor([-0.5, 0.99, 2.0]).reshape(3, 1, 1, 1)
    for probability in (0.0, 1.0):
        changed = AdditiveNoise(probability=probability, factors=(0.3,))(x, generator=chances())
        assert changed.min() >= 0
        assert changed.max() == 1


def test_a_strength_is_needed_and_is_not_negative():
    with pytest.raises(SettingError, match="factors: expected at least one"):
        AdditiveNoise(factors=())
    with pytest.raises(SettingError, match=r"factors: expected a number from 0 up, got -0\.1"):
        AdditiveNoise(factors=(0.1, -0.1))

"""Speed: tones move, lengths change, nothing folds back."""

import pytest
import torch

from samekind.acoustics import lengths_of, padded
from samekind.augmentations import Speed
from samekind.augmentations.speed import at_speed, resampled
from samekind.errors import SettingError


@pytest.mark.parametrize("factor", [0.8, 0.9, 1.1, 1.25])
def test_a_tone_moves_with_the_speed(factor):
    steps = torch.arange(16000, dtype=torch.float64)
    x = torch.sin(2 * torch.pi * 1000 * steps / 16000)[None, None]
    y = at_speed(x, factor)
    length = int(lengths_of(y)[0])
    assert length == min(16000, int(16000 / factor))
    expected = torch.sin(2 * torch.pi * 1000 * factor * steps / 16000)[:length]
    torch.testing.assert_close(y[0, 0, 200 : length - 200], expected[200 : length - 200], atol=2e-3, rtol=0)


def test_tones_that_no_longer_fit_are_filtered_out():
    x = torch.sin(2 * torch.pi * 7800 * torch.arange(16000, dtype=torch.float64) / 16000)[None]
    assert resampled(x, 5, 4)[:, 100:-100].square().mean() < 1e-4 * x.square().mean()


def test_every_sound_has_its_own_speed(chances):
    x = padded([torch.randn(1, 900)] * 30)
    y = Speed()(x, generator=chances())
    assert set(lengths_of(y).tolist()) == {900, 818}
    assert torch.equal(Speed(factors=(1.0,))(x, generator=chances()), x)
    with pytest.raises(SettingError, match="factors"):
        Speed(factors=(0.0,))

"""Corruptions: pictures stay pictures, and each severity changes more than the one before."""

import pytest
import torch

from samekind.augmentations.corruptions import BLUR, CONTRAST, CORRUPTIONS, NOISE, SEVERITIES, corrupted
from samekind.data import digits, scaled
from samekind.errors import SettingError


def generator():
    return torch.Generator().manual_seed(0)


def pictures(channels=1, size=32):
    """Smooth coloured waves with an edge: there is something to blur, and to compress."""
    line = torch.linspace(0, 6, size)
    wave = (line[:, None].sin() * line.cos() + 1) / 2
    wave[:, : size // 3] *= 0.3
    return torch.stack([wave.roll(shift, 1) for shift in range(4 * channels)]).reshape(
        4, channels, size, size
    )


@pytest.mark.parametrize("name", CORRUPTIONS)
@pytest.mark.parametrize("channels", [1, 3, 2])
def test_pictures_stay_pictures_and_the_input_stays_as_it_was(name, channels):
    x = pictures(channels)
    before = x.clone()
    for severity in SEVERITIES:
        y = corrupted(x, name, severity, generator=generator())
        assert (y.shape, y.dtype) == (x.shape, x.dtype)
        assert 0 <= float(y.min()) <= float(y.max()) <= 1
        assert torch.equal(y, corrupted(x, name, severity, generator=generator()))
    assert torch.equal(x, before)


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_each_severity_changes_more(name):
    x = pictures(3)
    changes = [
        (corrupted(x, name, severity, generator=generator()) - x).square().mean().item()
        for severity in SEVERITIES
    ]
    assert changes == sorted(changes)
    assert changes[0] > 0


def test_noise_has_its_deviation_and_contrast_its_share():
    grey = torch.full((2, 1, 64, 64), 0.5)
    noisy = corrupted(grey, "noise", 2, generator=generator())
    assert noisy.std().item() == pytest.approx(NOISE[1], rel=0.03)
    x = pictures()
    flat = corrupted(x, "contrast", 3, generator=generator())
    torch.testing.assert_close(flat.std((-2, -1)), CONTRAST[2] * x.std((-2, -1)))
    torch.testing.assert_close(flat.mean((-2, -1)), x.mean((-2, -1)))


def test_blur_grows_with_the_picture():
    """A white point in a picture of 64: its width is that of the severity, times two."""
    x = torch.zeros(1, 1, 64, 64)
    x[0, 0, 32, 32] = 1
    line = corrupted(x, "blur", 5, generator=generator())[0, 0].sum(0)
    places = torch.arange(64) - 32.0
    assert (line * places.square()).sum().sqrt().item() == pytest.approx(2 * BLUR[4], rel=0.02)


def test_tiny_pictures_have_a_jpeg_too():
    x = scaled(digits().inputs[:3]).float()
    assert corrupted(x, "jpeg", 1, generator=generator()).shape == x.shape


@pytest.mark.parametrize(("name", "severity"), [("fog", 1), ("noise", 0), ("noise", 6)])
def test_what_there_is_not_is_refused(name, severity):
    with pytest.raises(SettingError, match=r"corruption|severity"):
        corrupted(pictures(), name, severity, generator=generator())

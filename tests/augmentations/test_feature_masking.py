"""Masks of features and of waveforms."""

import pytest
import torch

from samekind.acoustics import Features, lengths_of, padded
from samekind.augmentations import FeatureMasking
from samekind.errors import SettingError


def test_rows_and_frames_have_the_mean_of_the_sound(chances):
    x = padded([torch.randn(30, length) for length in [200] * 30 + [90] * 30])
    y = FeatureMasking(probability=1.0)(x, generator=chances())
    assert torch.equal(lengths_of(y), lengths_of(x))
    for before, after, length in zip(x, y, lengths_of(x).tolist(), strict=True):
        masked = after[:, :length] != before[:, :length]
        mean = before[:, :length].mean()
        torch.testing.assert_close(after[:, :length][masked], mean.expand(int(masked.sum())))
        rows, frames = masked.all(1).sum(), masked.all(0).sum()
        assert rows <= 10
        assert frames <= min(50, length // 2)
        assert masked.sum() == rows * length + frames * 30 - rows * frames


def test_of_waveforms_a_band_and_a_moment_are_silenced(chances):
    x = torch.randn(20, 1, 16000) * 0.1
    y = FeatureMasking(frames=0, probability=1.0)(x, generator=chances())
    lengths = torch.full((20,), 16000)
    before, after = (
        Features(representation="log-mel", coefficients=30)(z[:, 0], lengths).values.mean(-1) for z in (x, y)
    )
    gone = before - after > 3
    assert 0 < gone.float().sum(1).mean() < 10
    y = FeatureMasking(bands=0, probability=1.0)(x, generator=chances())
    silent = (y == 0).sum(-1)
    assert silent.max() > 2000
    assert silent.max() <= 8000


def test_nothing_below_0():
    with pytest.raises(SettingError, match="bands and frames"):
        FeatureMasking(bands=-1)

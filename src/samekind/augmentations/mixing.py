"""Shared by sounds that are added to others: their recordings, and their loudness."""

from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor

from samekind.acoustics import lengths_of
from samekind.augmentations.limits import expect_within
from samekind.data import SoundReader, Stored, collect, scaled
from samekind.errors import DataError, SettingError

#: Of a longer recording the middle is used, in seconds.
LONGEST = 60.0


def expect_ratios(ratios: Sequence[float]) -> None:
    """Raise SettingError for anything but ratios of signal to noise in decibels, one or more."""
    if not ratios:
        raise SettingError("ratios: expected one or more ratios of signal to noise in decibels, got none")
    for ratio in ratios:
        expect_within("ratios", ratio, -100, 100)


@lru_cache(maxsize=8)
def recordings(folder: str, rate: int) -> Stored:
    """All sounds of a folder or .zip file, at a rate; read once. DataError for none, or an unreadable one."""
    inputs = collect([folder], SoundReader(rate=rate, seconds=LONGEST)).inputs
    if not isinstance(inputs, Stored) or not len(inputs):
        raise DataError(f"expected a folder of sounds, got {folder}")
    return inputs


def drawn_recordings(
    folder: str, rate: int, like: Tensor, *, gap: int = 0, generator: torch.Generator
) -> Tensor:
    """A recording for each of the sounds ``like`` (n, 1, samples), as long as the batch. Each begins at a
    random place, and begins anew when it ends, after a ``gap`` of so many samples of silence.
    """
    stored = recordings(folder, rate)
    chosen = torch.randint(len(stored), (len(like),), generator=generator)
    starts = torch.rand(len(like), generator=generator)
    sounds = scaled(stored[chosen]).to(like.device)
    return around(sounds, starts, like.shape[-1], gap=gap)


def around(sounds: Tensor, starts: Tensor, count: int, *, gap: int = 0) -> Tensor:
    """``count`` samples of each sound (n, 1, samples) from a place in [0, 1) of it, again and again."""
    lengths = lengths_of(sounds)[:, None]
    begin = (starts.to(sounds.device)[:, None] * lengths).long()
    places = (begin + torch.arange(count, device=sounds.device)) % (lengths + gap).clamp(min=1)
    silent = places >= lengths
    values = sounds[:, 0].gather(1, places.clamp(max=sounds.shape[-1] - 1))
    return values.masked_fill(silent, 0.0)[:, None]


def added(x: Tensor, noise: Tensor, ratios: Tensor) -> Tensor:
    """Sounds (n, 1, samples) with noise of the same shape, so loud that signal to noise is ``ratios`` (n,) in
    decibels. What is silent, or has a ratio of infinity, stays as it is; padding stays padding.
    """
    lengths = lengths_of(x).clamp(min=1)
    real = ~x.isnan()
    signal_power = x.nan_to_num(0.0).square().sum((1, 2)) / lengths
    noise_power = noise.masked_fill(~real, 0.0).square().sum((1, 2)) / lengths
    wanted = signal_power / 10 ** (ratios.to(x) / 10)
    gain = (wanted / noise_power.clamp(min=1e-20)).sqrt()
    return x + gain[:, None, None] * noise


def drawn_ratios(
    ratios: Sequence[float], count: int, probability: float, *, generator: torch.Generator
) -> Tensor:
    """One of the ratios for each of ``count`` sounds; infinity, no noise, for those that are not changed."""
    changed = torch.rand(count, generator=generator) < probability
    places = torch.randint(len(ratios), (count,), generator=generator)
    return torch.tensor(ratios, dtype=torch.float64)[places].where(changed, torch.inf)

"""Bands of frequency and moments of time taken out of a sound.

After Park et al., "SpecAugment: A Simple Data Augmentation Method for Automatic Speech Recognition",
Interspeech 2019.
"""

import torch
from torch import Tensor

from samekind.acoustics import lengths_of
from samekind.augmentations.draws import chosen, uniform
from samekind.augmentations.limits import expect_sounds, expect_within
from samekind.augmentations.random_chunk import FRAMES
from samekind.errors import SettingError

#: Into how many bands a waveform is divided: as many as cepstra.
BANDS = 30


class FeatureMasking:
    """With ``probability`` for each of the two, up to ``bands`` neighbouring rows of the features and up to
    ``frames`` neighbouring frames are replaced by the mean of the sound.

    Of waveforms, whose features come later, as wide a band (of 30 that are equally wide on the mel scale) and
    as long a moment are silenced. ``rate`` is filled in by a run.
    """

    def __init__(
        self, *, bands: int = 10, frames: int = 50, probability: float = 0.5, rate: int = 16000
    ) -> None:
        expect_within("probability", probability, 0, 1)
        if bands < 0 or frames < 0:
            raise SettingError(f"bands and frames: expected numbers from 0 up, got {bands} and {frames}")
        self.bands = bands
        self.frames = frames
        self.probability = probability
        self.rate = rate

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_sounds(x)
        count = len(x)
        widths = _width(self.bands, count, self.probability, generator=generator)
        moments = _width(self.frames, count, self.probability, generator=generator)
        low, start = (uniform(count, 0, 1, generator=generator).to(x.device) for _ in range(2))
        widths, moments = widths.to(x.device), moments.to(x.device)
        lengths = lengths_of(x)
        if x.shape[1] == 1:
            x = _without_band(x, low, widths / BANDS, self.rate)
            mean = x.new_zeros(count, 1, 1)
            moments = moments * self.rate // FRAMES
        else:
            mean = x.nanmean((1, 2), keepdim=True)
            rows = _between(low, widths, torch.full_like(widths, x.shape[1]), x.shape[1])[..., None]
            x = torch.where(rows & ~x.isnan(), mean, x)
        masked = _between(start, moments, lengths, x.shape[-1])[:, None]
        return torch.where(masked, mean.to(x.dtype), x)


def _width(most: int, count: int, probability: float, *, generator: torch.Generator) -> Tensor:
    """How much of each of ``count`` sounds is masked: 0 to ``most``, or 0 where nothing happens."""
    widths = torch.randint(most + 1, (count,), generator=generator)
    return widths * chosen(count, probability, generator=generator)


def _between(starts: Tensor, widths: Tensor, lengths: Tensor, steps: int) -> Tensor:
    """Which of so many steps are masked, (n, steps): ``widths`` (n,) of each length, from a place in [0, 1)
    of the room that is left; at most half of it.
    """
    widths = torch.minimum(widths, lengths // 2)
    begin = (starts * (lengths - widths + 1)).long()
    places = torch.arange(steps, device=starts.device)
    return (places >= begin[:, None]) & (places < (begin + widths)[:, None])


def _without_band(x: Tensor, low: Tensor, width: Tensor, rate: int) -> Tensor:
    """Waveforms (n, 1, samples) without a band of so wide a share of the mel scale; padding stays."""
    if not x.numel() or not bool((width > 0).any()):
        return x
    spectrum = torch.fft.rfft(x[:, 0].nan_to_num(0.0))
    frequencies = torch.linspace(0, rate / 2, spectrum.shape[-1], device=x.device)
    mels = torch.log1p(frequencies / 700)
    shares = mels / mels[-1]
    width = width.clamp(max=0.5)
    begin = (low * (1 - width))[:, None]
    out = (shares >= begin) & (shares < begin + width[:, None])
    silenced = torch.fft.irfft(spectrum.masked_fill(out, 0.0), n=x.shape[-1])[:, None].to(x.dtype)
    return torch.where((width > 0)[:, None, None] & ~x.isnan(), silenced, x)

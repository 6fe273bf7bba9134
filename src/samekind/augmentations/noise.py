"""Noise that is added to a sound."""

import torch
from torch import Tensor

from samekind.augmentations.limits import expect_waveforms, expect_within
from samekind.augmentations.mixing import added, drawn_ratios, drawn_recordings, expect_ratios


class Noise:
    """With ``probability``, noise is added to a sound, at one of the ``ratios`` of signal to noise (dB).

    The noise comes from the sounds in a ``folder``, each begun anew ``interval`` seconds after its end, as in
    Kaldi's recipes for speakers; without a folder it is made: hiss to rumble, a spectrum that falls by 0 to 2
    in power for each frequency. ``rate`` is filled in by a run.
    """

    def __init__(
        self,
        *,
        folder: str | None = None,
        ratios: tuple[float, ...] = (15.0, 10.0, 5.0, 0.0),
        interval: float = 1.0,
        probability: float = 0.5,
        rate: int = 16000,
    ) -> None:
        expect_ratios(ratios)
        expect_within("interval", interval, 0, 60)
        expect_within("probability", probability, 0, 1)
        self.folder = folder
        self.ratios = ratios
        self.interval = interval
        self.probability = probability
        self.rate = rate

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_waveforms(x)
        ratios = drawn_ratios(self.ratios, len(x), self.probability, generator=generator)
        if not len(x):
            return x
        if self.folder is None:
            return added(x, coloured(x, generator=generator), ratios)
        gap = round(self.interval * self.rate)
        return added(x, drawn_recordings(self.folder, self.rate, x, gap=gap, generator=generator), ratios)


def coloured(x: Tensor, *, generator: torch.Generator) -> Tensor:
    """Noise in the shape of sounds (n, 1, samples), each with its own colour."""
    white = torch.randn(x.shape, generator=generator).to(x.device, x.dtype)
    slopes = 2 * torch.rand(len(x), 1, 1, generator=generator).to(x.device, x.dtype)
    spectrum = torch.fft.rfft(white)
    frequencies = torch.arange(spectrum.shape[-1], device=x.device, dtype=x.dtype).clamp(min=1)
    noise: Tensor = torch.fft.irfft(spectrum * frequencies ** (-slopes / 2), n=x.shape[-1])
    return noise

"""Mel filters in decibels, as SpeechBrain computes them, which is not how Kaldi does.

Ravanelli et al., "SpeechBrain: A General-Purpose Speech Toolkit", 2021. Networks trained with it expect it.
"""

import math

import torch
from torch import Tensor, nn

from samekind.acoustics.features import FRAME, SHIFT
from samekind.acoustics.padding import inside
from samekind.errors import DataError

#: The least power, and how many decibels below the loudest number of a sound everything else ends.
LEAST, RANGE = 1e-10, 80.0


class Decibels(nn.Module):
    """Waveforms (n, samples) in [-1, 1], and their lengths (n,), to decibels of mel filters (n, bands,
    frames) and how many frames each has: one more than full shifts of 10 ms.

    Frames of 25 ms are centred, with silence beyond the ends, and weighted by a Hamming window. There is no
    pre-emphasis.
    """

    window: Tensor
    filters: Tensor

    def __init__(self, *, rate: int = 16000, bands: int = 80) -> None:
        super().__init__()
        self.rate, self.coefficients = rate, bands
        self.frame, self.shift = rate * FRAME // 1000, rate * SHIFT // 1000
        # Not part of the weights: they follow from the settings.
        self.register_buffer("window", torch.hamming_window(self.frame), persistent=False)
        self.register_buffer("filters", _filters(bands=bands, size=self.frame, rate=rate), persistent=False)

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Whatever lies behind ``lengths`` does not count. Raises DataError for a sound without a sample."""
        if len(lengths) and int(lengths.min()) < 1:
            raise DataError("a sound has no sample; expected at least one")
        with torch.autocast(x.device.type, enabled=False):
            x = x.float().masked_fill(~inside(lengths, x.shape[-1]), 0.0)
            spectrum = torch.stft(
                x,
                self.frame,
                self.shift,
                window=self.window,
                center=True,
                pad_mode="constant",
                return_complex=True,
            )
            power = spectrum.real.square() + spectrum.imag.square()
            values = 10 * (self.filters.T @ power).clamp(min=LEAST).log10()
            counts = lengths // self.shift + 1
            heard = inside(counts, values.shape[-1])[:, None]
            loudest = values.masked_fill(~heard, -torch.inf).amax((1, 2), keepdim=True)
            return torch.maximum(values, loudest - RANGE), counts


def _filters(*, bands: int, size: int, rate: int) -> Tensor:
    """Triangles (size / 2 + 1, bands) around frequencies that are equally far apart on the mel scale, each
    as wide to the right as to the left.
    """
    highest = 2595 * math.log10(1 + rate / 2 / 700)
    edges = 700 * (10 ** (torch.linspace(0, highest, bands + 2) / 2595) - 1)
    centres, widths = edges[1:-1], edges.diff()[:-1]
    frequencies = torch.linspace(0, rate // 2, size // 2 + 1)
    return (1 - ((frequencies[:, None] - centres) / widths).abs()).clamp(min=0)

"""Mel-frequency cepstra and logarithms of mel filters, as Kaldi computes them, for many sounds at once.

Povey et al., "The Kaldi Speech Recognition Toolkit", ASRU 2011. The defaults are those of its recipes for
speakers: voxceleb at 16 kHz, sre16 at 8 kHz.
"""

from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.acoustics.framing import Edges, frame_counts, frames_of
from samekind.acoustics.mel import cosine_transform, mel_filters
from samekind.acoustics.padding import PAD
from samekind.errors import DataError, SettingError

Representation = Literal["mfcc", "log-mel"]
Window = Literal["povey", "hamming", "hann"]

#: Milliseconds of a frame, and from one to the next.
FRAME, SHIFT = 25, 10

#: From where speech is heard, in Hz; how far below half the rate the filters end; the lifter.
LOWEST, MARGIN, LIFTER = 20.0, {16000: 400.0, 8000: 300.0}, 22.0

EPSILON = torch.finfo(torch.float32).eps

#: Frames that are computed at a time, so that a long sound takes no more memory than a short one: as many as
#: stay near the cache of a CPU, and many more elsewhere.
AT_ONCE, AT_ONCE_ELSEWHERE = 2**11, 2**17


def usual_coefficients(rate: int) -> int:
    """How many cepstra Kaldi's recipes have: 30 at 16 kHz, 23 at 8 kHz."""
    return 30 if rate >= 16000 else 23


class Sounds(NamedTuple):
    """Features of a batch: ``values`` (n, coefficients, frames), the logarithm of each frame's ``energy``
    (n, frames), and how many frames each sound has, ``lengths`` (n,). What lies behind means nothing.
    """

    values: Tensor
    energy: Tensor
    lengths: Tensor


class Features(nn.Module):
    """Waveforms (n, samples) in [-1, 1], and their lengths (n,), to features, 100 frames a second.

    ``representation`` "mfcc" gives ``coefficients`` cepstra of as many mel filters (None: 30 at 16 kHz,
    23 at 8 kHz), the first of which is the logarithm of the energy; "log-mel" gives the logarithms of so
    many filters (None: 80). Filters reach from 20 Hz to ``high`` (None: 7600 Hz at 16 kHz, 3700 at 8).
    ``dither`` adds noise of so many 16-bit steps while training, from the global random state; Kaldi has
    1. ``preemphasis`` is 0.97, and frames are of 25 ms. ``edges`` says whether frames reach beyond the
    ends of a sound. ``loudest`` is what a sample of 1 counts as: 32768 in Kaldi, 1 where samples are not
    scaled; the least energy that does not count as silence depends on it.
    """

    weights: Tensor
    filters: Tensor
    cosines: Tensor

    def __init__(
        self,
        *,
        rate: int = 16000,
        representation: Representation = "mfcc",
        coefficients: int | None = None,
        high: float | None = None,
        window: Window = "povey",
        preemphasis: float = 0.97,
        dither: float = 0.0,
        edges: Edges = "mirrored",
        loudest: float = -PAD,
    ) -> None:
        super().__init__()
        _expect_settings(rate, representation, window)
        self.rate, self.representation = rate, representation
        usual = usual_coefficients(rate) if representation == "mfcc" else 80
        self.coefficients = usual if coefficients is None else coefficients
        self.high = rate / 2 - MARGIN.get(rate, 0.0) if high is None else high
        if not 1 <= self.coefficients <= 256 or not LOWEST < self.high <= rate / 2:
            raise SettingError(
                f"expected 1 to 256 coefficients, and filters up to at most {rate / 2:g} Hz, half the rate; "
                f"got {self.coefficients} and {self.high:g} Hz"
            )
        self.window, self.preemphasis, self.dither = window, preemphasis, dither
        self.edges: Edges = edges
        self.loudest = loudest
        self.frame, self.shift = rate * FRAME // 1000, rate * SHIFT // 1000
        self.size = 1 << (self.frame - 1).bit_length()
        filters = mel_filters(bins=self.coefficients, size=self.size, rate=rate, low=LOWEST, high=self.high)
        cosines = cosine_transform(bins=self.coefficients, coefficients=self.coefficients, lifter=LIFTER)
        # Not part of the weights: they follow from the settings.
        weights = F.pad(_window(window, self.frame), (0, self.size - self.frame))
        self.register_buffer("weights", weights, persistent=False)
        self.register_buffer("filters", filters, persistent=False)
        self.register_buffer("cosines", cosines, persistent=False)

    def forward(self, x: Tensor, lengths: Tensor) -> Sounds:
        """The features of waveforms (n, samples); whatever lies behind ``lengths`` (n,) does not count.

        Raises DataError for a sound without a sample.
        """
        if len(lengths) and int(lengths.min()) < 1:
            raise DataError("a sound has no sample; expected at least one")
        with torch.autocast(x.device.type, enabled=False):
            noise = self.training and self.dither
            x = x.float().nan_to_num(0.0) * -PAD
            x = x + self.dither * torch.randn_like(x) if noise else x
            x = x if self.loudest == -PAD else x * (self.loudest / -PAD)
            frames = frames_of(
                x, lengths, window=self.frame, shift=self.shift, size=self.size, edges=self.edges
            )
            most = AT_ONCE if x.device.type == "cpu" else AT_ONCE_ELSEWHERE
            blocks = torch.split(frames, max(1, most // max(1, len(x))), dim=1)
            parts = [self._of(block) for block in blocks]
        values, energy = (torch.cat(column, dim=1) for column in zip(*parts, strict=True))
        counts = frame_counts(lengths, self.shift, window=self.frame, edges=self.edges)
        return Sounds(values.transpose(1, 2), energy, counts)

    def _of(self, frames: Tensor) -> tuple[Tensor, Tensor]:
        """Frames (n, frames, size) to values (n, frames, coefficients) and energy (n, frames)."""
        frames = frames - frames[..., : self.frame].mean(-1, keepdim=True)
        norms = torch.linalg.vector_norm(frames[..., : self.frame], dim=-1)
        energy = norms.square().clamp(min=EPSILON).log()
        # What lies behind the frame has no weight. The first sample is its own predecessor.
        weighted = frames * self.weights
        weighted[..., 1:].addcmul_(frames[..., :-1], self.weights[1:], value=-self.preemphasis)
        weighted[..., 0].mul_(1 - self.preemphasis)
        spectrum = torch.fft.rfft(weighted)
        power = spectrum.real.square() + spectrum.imag.square()
        values = (power @ self.filters).clamp(min=EPSILON).log()
        if self.representation == "log-mel":
            return values, energy
        values = values @ self.cosines
        return torch.cat([energy[..., None], values[..., 1:]], dim=-1), energy


def _expect_settings(rate: int, representation: str, window: str) -> None:
    if representation not in ("mfcc", "log-mel"):
        raise SettingError(f'features are "mfcc" or "log-mel"; got "{representation}"')
    if window not in ("povey", "hamming", "hann"):
        raise SettingError(f'window: expected "povey", "hamming" or "hann"; got "{window}"')
    if rate < 1000 or rate % 200:
        raise SettingError(f"rate: expected a multiple of 200 samples a second, such as 16000; got {rate}")


def _window(name: str, size: int) -> Tensor:
    """The weights of the samples of a frame, (size,)."""
    if name == "hamming":
        return torch.hamming_window(size, periodic=False)
    hann = torch.hann_window(size, periodic=False)
    return hann.pow(0.85) if name == "povey" else hann

"""Waveforms to features in NumPy: the steps of `samekind.acoustics.Preparation`, for one sound at a time.

Window, mel filters and cosine transform are the arrays of the exported space.
"""

from typing import NamedTuple

import numpy as np

from samekind.plain_files import Array
from samekind.portable.description import FrontEndSettings

EPSILON = np.finfo(np.float32).eps

#: As in `samekind.acoustics.voice_activity`, which says what they mean.
THRESHOLD, SCALE, PROPORTION, CONTEXT = 5.5, 0.5, 0.12, 2


class FrontEnd(NamedTuple):
    """The settings, the ``window`` (frame,), ``filters`` (size / 2 + 1, bins) and ``cosines`` (bins,
    coefficients).
    """

    settings: FrontEndSettings
    window: Array
    filters: Array
    cosines: Array

    def features(self, samples: Array) -> Array:
        """One sound (samples,), float32 in [-1, 1], to features (coefficients, frames)."""
        settings = self.settings
        values, energy = self._frames(samples)
        if settings.normalise:
            values = _without_sliding_mean(values, settings.normalise)
        if settings.voice_activity:
            chosen = _voiced(energy)
            values = values[chosen] if chosen.any() else values
        if len(values) < settings.shortest:
            values = values[np.arange(settings.shortest) % len(values)]
        return np.ascontiguousarray(values.T)

    def _frames(self, samples: Array) -> tuple[Array, Array]:
        """Values (frames, coefficients), and the logarithm of the energy of each frame."""
        settings = self.settings
        x = samples.astype(np.float32) * np.float32(32768)
        count = max(1, (len(x) + settings.shift // 2) // settings.shift)
        starts = np.arange(count) * settings.shift - (settings.frame // 2 - settings.shift // 2)
        # Beyond its ends a waveform is mirrored, as often as needed.
        places = (starts[:, None] + np.arange(settings.frame)) % (2 * len(x))
        frames = x[np.where(places < len(x), places, 2 * len(x) - 1 - places)]
        frames = frames - frames.mean(1, keepdims=True)
        energy = np.log(np.maximum(np.square(frames).sum(1), EPSILON))
        weighted = frames * self.window
        weighted[:, 1:] -= np.float32(settings.preemphasis) * frames[:, :-1] * self.window[1:]
        weighted[:, 0] *= np.float32(1 - settings.preemphasis)
        spectrum = np.fft.rfft(weighted, n=settings.size)
        power = (np.square(spectrum.real) + np.square(spectrum.imag)).astype(np.float32)
        values = np.log(np.maximum(power @ self.filters, EPSILON))
        if not settings.cepstra:
            return values, energy
        return np.concatenate([energy[:, None], (values @ self.cosines)[:, 1:]], axis=1), energy


def _without_sliding_mean(values: Array, window: int) -> Array:
    """Features (frames, coefficients) less the mean over ``window`` frames around each; see
    `samekind.acoustics.without_sliding_mean`.
    """
    count = len(values)
    first = np.minimum(np.maximum(np.arange(count) - window // 2, 0), max(0, count - window))
    last = np.minimum(first + window, count)
    sums = np.concatenate([np.zeros((1, values.shape[1])), values.astype(np.float64).cumsum(0)])
    means = (sums[last] - sums[first]) / (last - first)[:, None]
    return np.asarray(values - means.astype(np.float32))


def _voiced(energy: Array) -> Array:
    """Which frames have a voice in them, by the logarithm of their energy."""
    loud = energy > np.float32(THRESHOLD) + np.float32(SCALE) * energy.mean(dtype=np.float32)
    near = np.ones(2 * CONTEXT + 1)
    # "same" is as long as the longer of the two, so a short sound is cut out of "full".
    counts = [
        np.convolve(flags, near)[CONTEXT:-CONTEXT] for flags in (loud.astype(float), np.ones(len(loud)))
    ]
    return counts[0] >= PROPORTION * counts[1] - 1e-6

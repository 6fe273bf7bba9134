"""Sound as numbers: samples to frames, frames to features, as Kaldi computes them, on any device.

A batch of sounds is one tensor (n, channels, time), with a length for each sound. Time is the last axis: the
samples of waveforms (n, 1, samples) in [-1, 1], or the frames of features (n, coefficients, frames), a
hundred a second. A sound that is shorter than the batch is padded at its end with NaN, so padding is seen
where it is and can never be taken for silence. `lengths_of` counts what is not padding. Whoever computes with
a batch respects the lengths: padding changes no result.

Samples that wait in memory are 16-bit whole numbers, as files have them; `PAD` is the one that no sample has.
"""

from samekind.acoustics.features import Features, Sounds, usual_coefficients
from samekind.acoustics.padding import (
    PAD,
    as_floats,
    as_samples,
    lengths_of,
    marked,
    padded,
    repeated,
    unpadded,
)
from samekind.acoustics.preparation import Preparation
from samekind.acoustics.sliding_mean import without_sliding_mean
from samekind.acoustics.voice_activity import only_voiced, voiced

__all__ = [
    "PAD",
    "Features",
    "Preparation",
    "Sounds",
    "as_floats",
    "as_samples",
    "lengths_of",
    "marked",
    "only_voiced",
    "padded",
    "repeated",
    "unpadded",
    "usual_coefficients",
    "voiced",
    "without_sliding_mean",
]

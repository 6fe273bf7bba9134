"""Mel filters in decibels, against the definition, one number at a time."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from samekind.acoustics import lengths_of, padded
from samekind.acoustics.decibels import Decibels
from samekind.errors import DataError


def by_hand(sound, *, bands=80, rate=16000):
    """As SpeechBrain's Fbank: a centred transform of 400 samples, 160 apart; triangles in Hz."""
    size, shift = 400, 160
    extended = np.concatenate([np.zeros(size // 2), sound, np.zeros(size // 2)])
    window = [0.54 - 0.46 * math.cos(2 * math.pi * n / size) for n in range(size)]
    edges = [700 * (10 ** (n / (bands + 1) * math.log10(1 + rate / 2 / 700)) - 1) for n in range(bands + 2)]
    columns = []
    for start in range(0, len(sound) + 1, shift):
        power = np.abs(np.fft.rfft(extended[start : start + size] * window)) ** 2
        column = []
        for left, centre in pairwise(edges[:-1]):
            weights = [
                max(0.0, 1 - abs(place * rate / size - centre) / (centre - left)) for place in range(201)
            ]
            column.append(10 * math.log10(max(1e-10, float(np.dot(weights, power)))))
        columns.append(column)
    values = np.array(columns).T
    return torch.from_numpy(np.maximum(values, values.max() - 80)).float()


def test_agrees_with_the_definition_whatever_the_neighbours():
    generator = torch.Generator().manual_seed(0)
    sounds = [torch.randn(1, length, generator=generator) * 0.1 for length in (1700, 900, 30)]
    sounds.append(torch.sin(torch.arange(1200) * 0.3)[None])  # with parts far below the loudest
    batch = padded(sounds)
    values, counts = Decibels()(batch[:, 0], lengths_of(batch))
    for sound, ours, count in zip(sounds, values, counts.tolist(), strict=True):
        expected = by_hand(sound[0].double().numpy())
        assert count == expected.shape[1]
        torch.testing.assert_close(ours[:, :count], expected, atol=2e-2, rtol=1e-4)


def test_silence_is_finite_and_nothing_is_refused():
    values, _ = Decibels()(torch.zeros(1, 500), torch.tensor([500]))
    assert (values == -100).all()
    with pytest.raises(DataError, match="no sample"):
        Decibels()(torch.zeros(1, 5), torch.tensor([0]))

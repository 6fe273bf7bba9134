"""Noise from a folder, or made, at the ratios asked for."""

import numpy as np
import pytest
import soundfile
import torch

from samekind.augmentations import Noise
from samekind.augmentations.noise import coloured
from samekind.errors import DataError


def test_ratios_are_those_of_the_recipe(chances):
    x = torch.randn(200, 1, 800) * 0.1
    noise = Noise(probability=1.0)(x, generator=chances()) - x
    ratios = 10 * (x.square().sum((1, 2)) / noise.square().sum((1, 2))).log10()
    assert {round(float(ratio)) for ratio in ratios} == {15, 10, 5, 0}


def test_a_folder_of_clips(tmp_path, chances):
    soundfile.write(tmp_path / "hum.wav", np.sin(np.arange(400) * 0.5) * 0.5, 16000)
    x = torch.randn(4, 1, 30000) * 0.1
    noise = Noise(folder=str(tmp_path), ratios=(0.0,), probability=1.0)(x, generator=chances()) - x
    # 25 ms of hum, and a second of silence before the next.
    assert ((noise.abs() > 1e-4).sum(-1) <= 800).all()
    with pytest.raises(DataError, match="waveforms are augmented as floats"):
        Noise()(torch.zeros(2, 30, 50), generator=chances())


def test_colours_differ(chances):
    noise = coloured(torch.zeros(50, 1, 4096), generator=chances())
    power = torch.fft.rfft(noise[:, 0]).abs().square()
    low, high = power[:, 8:64].mean(1), power[:, 1024:].mean(1)
    slopes = (low / high).log10()
    assert slopes.min() < 0.5
    assert slopes.max() > 2

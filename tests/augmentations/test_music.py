"""Music behind a sound."""

import numpy as np
import soundfile
import torch

from samekind.augmentations import Music
from samekind.augmentations.music import chords


def test_ratios_are_those_of_the_recipe(chances):
    x = torch.randn(100, 1, 2000) * 0.1
    noise = Music(probability=1.0)(x, generator=chances()) - x
    ratios = 10 * (x.square().sum((1, 2)) / noise.square().sum((1, 2))).log10()
    assert {round(float(ratio)) for ratio in ratios} == {15, 10, 8, 5}


def test_chords_are_tones(chances):
    music = chords(torch.zeros(2, 1, 6400), 16000, generator=chances())[0, 0]
    power = torch.fft.rfft(music).abs().square()
    strongest = power.sort(descending=True).values
    assert strongest[:60].sum() / power.sum() > 0.8


def test_a_folder_goes_round_without_a_gap(tmp_path, chances):
    soundfile.write(tmp_path / "a.wav", np.full(300, 0.5), 16000)
    x = torch.randn(2, 1, 2000) * 0.1
    noise = Music(folder=str(tmp_path), probability=1.0)(x, generator=chances()) - x
    assert (noise.abs() > 1e-4).all()

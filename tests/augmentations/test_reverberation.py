"""Rooms: how long they echo, and that the sound stays where it is and as loud."""

import math

import numpy as np
import pytest
import soundfile
import torch

from samekind.acoustics import lengths_of, padded
from samekind.augmentations import Reverberation
from samekind.augmentations.reverberation import made_rooms, reverberated
from samekind.errors import SettingError


@pytest.mark.parametrize("time", [0.25, 0.75])
def test_a_made_room_falls_by_sixty_decibels_in_its_time(time, chances):
    rooms = made_rooms(20, time, time, 16000, generator=chances())
    energy = rooms[:, 1:].square().flip(1).cumsum(1).flip(1).mean(0)  # what is still to come (Schroeder)
    levels = 10 * (energy / energy[0]).log10()
    begin, end = int(0.1 * time * 16000), int(0.5 * time * 16000)
    slope = float(levels[end] - levels[begin]) / ((end - begin) / 16000)
    assert -60 / slope == pytest.approx(time, rel=0.1)


def test_convolution_is_the_plain_one():
    x, rooms = torch.randn(2, 1, 50, dtype=torch.float64), torch.randn(2, 7, dtype=torch.float64)
    wet = reverberated(x, rooms)
    for sound, room, result in zip(x, rooms, wet, strict=True):
        expected = torch.from_numpy(np.convolve(sound[0], room)[:50])
        expected *= (sound.square().sum() / expected.square().sum()).sqrt()
        torch.testing.assert_close(result[0], expected)


def test_lengths_and_loudness_stay(chances):
    x = padded([torch.randn(1, 3000), torch.randn(1, 800)])
    wet = Reverberation(probability=1.0)(x, generator=chances())
    assert lengths_of(wet).tolist() == [3000, 800]
    for before, after in zip(x, wet, strict=True):
        assert math.isclose(
            before.nansum() * 0 + before.nan_to_num().norm(), after.nan_to_num().norm(), rel_tol=1e-4
        )


def test_impulse_responses_of_a_folder_begin_at_their_peak(tmp_path, chances):
    response = np.zeros(100)
    response[40], response[60] = 0.9, 0.3
    soundfile.write(tmp_path / "room.wav", response, 16000)
    x = torch.zeros(1, 1, 200)
    x[..., 10] = 1
    wet = Reverberation(folder=str(tmp_path), probability=1.0)(x, generator=chances())
    assert wet[0, 0].abs().argsort(descending=True)[:2].tolist() == [10, 30]
    with pytest.raises(SettingError, match="shortest and longest"):
        Reverberation(shortest=1.0, longest=0.5)

"""Sounds over sounds: as loud as asked for, and padding stays padding."""

import numpy as np
import pytest
import soundfile
import torch

from samekind.acoustics import lengths_of, padded
from samekind.augmentations.mixing import added, around, drawn_ratios, drawn_recordings, expect_ratios
from samekind.errors import DataError, SettingError


def ratio_of(clean, mixed):
    noise = (mixed - clean).nan_to_num(0.0)
    return 10 * (clean.nan_to_num(0.0).square().sum((1, 2)) / noise.square().sum((1, 2))).log10()


def test_the_ratio_is_that_of_the_real_samples():
    x = padded([torch.randn(1, length) for length in (900, 300, 500)])
    noise = torch.randn(3, 1, 900) * 7
    mixed = added(x, noise, torch.tensor([0.0, 15.0, torch.inf]))
    assert lengths_of(mixed).tolist() == [900, 300, 500]
    torch.testing.assert_close(ratio_of(x, mixed)[:2], torch.tensor([0.0, 15.0]), atol=1e-3, rtol=0)
    torch.testing.assert_close(mixed[2], x[2], equal_nan=True)


def test_silence_stays_silent():
    mixed = added(torch.zeros(1, 1, 50), torch.randn(1, 1, 50), torch.tensor([0.0]))
    assert not mixed.any()
    assert torch.equal(
        added(torch.ones(1, 1, 5), torch.zeros(1, 1, 5), torch.tensor([0.0])), torch.ones(1, 1, 5)
    )


def test_a_recording_begins_anew_after_a_gap():
    sounds = padded([torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[4.0]])])
    result = around(sounds, torch.tensor([0.4, 0.0]), 8, gap=2)
    assert result[:, 0].tolist() == [[2, 3, 0, 0, 1, 2, 3, 0], [4, 0, 0, 4, 0, 0, 4, 0]]


def test_ratios_are_drawn_for_the_chosen(chances):
    ratios = drawn_ratios((5.0, 10.0), 1000, 0.5, generator=chances())
    assert set(ratios.tolist()) == {5.0, 10.0, torch.inf}
    assert 400 < ratios.isinf().sum() < 600
    for wrong in ((), (1000.0,)):
        with pytest.raises(SettingError):
            expect_ratios(wrong)


def test_recordings_come_from_a_folder(tmp_path, chances):
    with pytest.raises(DataError):
        drawn_recordings(str(tmp_path / "none"), 16000, torch.zeros(2, 1, 100), generator=chances())
    (tmp_path / "a").mkdir()
    soundfile.write(tmp_path / "a" / "x.wav", np.full(50, 0.5), 16000)
    soundfile.write(tmp_path / "a" / "y.wav", np.full(70, -0.25), 16000)
    noise = drawn_recordings(str(tmp_path), 16000, torch.zeros(20, 1, 200), generator=chances())
    assert noise.shape == (20, 1, 200)
    levels = {round(float(row.mean()), 2) for row in noise}
    assert levels == {0.5, -0.25}

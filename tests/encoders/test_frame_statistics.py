"""Mean and deviation of the frames."""

import pytest
import torch

from samekind.acoustics import padded
from samekind.encoders import FrameStatistics
from samekind.errors import SettingError


def test_it_is_mean_and_deviation_of_the_real_frames():
    sounds = [torch.randn(4, 9), torch.randn(4, 5)]
    result = FrameStatistics(coefficients=4)(padded(sounds))
    for sound, row in zip(sounds, result, strict=True):
        expected = torch.cat([sound.mean(1), sound.std(1, correction=0)])
        torch.testing.assert_close(row, expected, atol=2e-4, rtol=0)


def test_no_coefficients():
    with pytest.raises(SettingError):
        FrameStatistics(coefficients=0)

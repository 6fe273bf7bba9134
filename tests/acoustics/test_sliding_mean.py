"""The sliding mean against a loop over Kaldi's rule."""

import pytest
import torch

from samekind.acoustics import without_sliding_mean


@pytest.mark.parametrize("window", [1, 4, 7, 300])
def test_it_is_the_mean_of_a_loop(window):
    lengths = torch.tensor([12, 5, 1])
    values = torch.randn(3, 2, 12) + 20
    result = without_sliding_mean(values, lengths, window=window)
    for row, length in enumerate(lengths.tolist()):
        for frame in range(length):
            start = frame - window // 2
            end = start + window
            start, end = (0, end - start) if start < 0 else (start, end)
            if end > length:
                start, end = max(0, start - (end - length)), length
            expected = values[row, :, frame] - values[row, :, start:end].mean(-1)
            torch.testing.assert_close(result[row, :, frame], expected, atol=1e-5, rtol=0)

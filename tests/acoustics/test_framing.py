"""Frames against a loop over Kaldi's rule."""

import pytest
import torch

from samekind.acoustics.framing import frame_counts, frames_of


@pytest.mark.parametrize("lengths", [[1600, 900], [399, 7], [1, 81]])
def test_frames_are_those_of_a_loop(lengths):
    window, shift = 400, 160
    lengths = torch.tensor(lengths)
    x = torch.randn(2, int(lengths.max()))
    frames, counts = frames_of(x, lengths, window=window, shift=shift), frame_counts(lengths, shift)
    for row, length in enumerate(lengths.tolist()):
        assert int(counts[row]) == max(1, (length + shift // 2) // shift)
        for number in range(int(counts[row])):
            start = number * shift + shift // 2 - window // 2
            for place in range(0, window, 7):
                assert frames[row, number, place] == x[row, mirrored(start + place, length)]


def mirrored(place, length):
    while not 0 <= place < length:
        place = -place - 1 if place < 0 else 2 * length - 1 - place
    return place

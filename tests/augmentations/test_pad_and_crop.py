"""Shifts by whole pixels."""

import pytest
import torch
import torch.nn.functional as F

from samekind.augmentations import PadAndCrop
from samekind.errors import SettingError


def test_every_result_is_one_of_the_windows_and_all_occur(images, chances):
    x = images(count=1, height=6, width=5)
    padded = F.pad(x, [1, 1, 1, 1])
    windows = {
        padded[0, :, top : top + 6, left : left + 5].numpy().tobytes()
        for top in range(3)
        for left in range(3)
    }
    shifted = PadAndCrop(padding=1)(x.repeat(100, 1, 1, 1), generator=chances())
    assert {image.numpy().tobytes() for image in shifted.contiguous()} == windows


def test_no_padding_changes_nothing(images, chances):
    x = images()
    assert torch.equal(PadAndCrop(padding=0)(x, generator=chances()), x)


def test_refuses_negative_padding():
    with pytest.raises(SettingError, match="padding: expected a whole number of pixels from 0 up, got -1"):
        PadAndCrop(padding=-1)

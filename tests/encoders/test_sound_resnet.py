"""The small ResNet on log-mel features."""

import pytest
import torch

from samekind.encoders import SoundResNet
from samekind.errors import SettingError


def test_bands_and_time_are_halved_three_times():
    network = SoundResNet(width=4, bands=80).eval()
    assert network.embedding.in_features == 2 * 32 * 10
    x, lengths = network.stem(torch.randn(1, 1, 80, 50)), torch.tensor([50])
    for block in network.blocks:
        x, lengths = block(x, lengths)
    assert x.shape == (1, 32, 10, 7)
    assert lengths.tolist() == [7]


def test_one_frame_is_enough_and_few_bands_are_refused():
    assert SoundResNet(width=2).eval()(torch.randn(1, 80, 1)).isfinite().all()
    with pytest.raises(SettingError, match="at least 8 bands"):
        SoundResNet(bands=4)

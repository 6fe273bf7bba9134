"""CAM++: padding changes nothing, and it has as many parameters as its authors say."""

import pytest
import torch

from samekind.acoustics import padded
from samekind.encoders import CAMPlusPlus
from samekind.encoders.cam_plus_plus import segment_means
from samekind.errors import SettingError


def test_padding_changes_nothing():
    torch.manual_seed(0)
    network = CAMPlusPlus().eval()
    sounds = [torch.randn(80, frames) for frames in (230, 57, 3)]
    with torch.no_grad():
        alone = torch.cat([network(sound[None]) for sound in sounds])
        torch.testing.assert_close(network(padded(sounds)), alone, atol=1e-4, rtol=1e-4)


def test_it_is_as_large_as_in_the_paper():
    """7.18 million parameters."""
    with torch.device("meta"):
        count = sum(parameter.numel() for parameter in CAMPlusPlus(dimension=512).parameters())
    assert count / 1e6 == pytest.approx(7.18, abs=0.02)


def test_a_segment_that_ends_with_the_sound_has_the_mean_of_what_is_there():
    x = torch.zeros(1, 1, 130)
    x[..., 100:110] = 2.0
    means = segment_means(x, torch.tensor([110]))
    assert means[0, 0, 0] == 0
    assert (means[0, 0, 100:] == 2).all()


def test_sizes_that_cannot_be_are_refused():
    with pytest.raises(SettingError, match="multiple of 8 bands"):
        CAMPlusPlus(bands=81)

"""Images as a pretrained network expects them."""

import pytest
import torch

from samekind.encoders.channel_scaling import ChannelScaling
from samekind.errors import SettingError


def test_scales_each_channel():
    x = torch.rand(2, 3, 4, 5)
    scaled = ChannelScaling([0.1, 0.2, 0.3], [1.0, 2.0, 4.0])(x)
    for channel, (mean, deviation) in enumerate([(0.1, 1.0), (0.2, 2.0), (0.3, 4.0)]):
        torch.testing.assert_close(scaled[:, channel], (x[:, channel] - mean) / deviation)


def test_a_grey_image_is_shown_in_every_channel():
    x = torch.rand(2, 1, 4, 5)
    scaling = ChannelScaling([0.1, 0.2, 0.3], [1.0, 2.0, 4.0])
    assert torch.equal(scaling(x), scaling(x.expand(2, 3, 4, 5)))


def test_is_kept_with_the_weights_and_not_trained():
    scaling = ChannelScaling([0.5], [0.25])
    assert set(scaling.state_dict()) == {"mean", "deviation"}
    assert not list(scaling.parameters())


@pytest.mark.parametrize(("means", "deviations"), [([0.0], []), ([], []), ([0.0], [0.0]), ([0.0], [-1.0])])
def test_refuses_impossible_settings(means, deviations):
    with pytest.raises(SettingError, match="deviations above 0"):
        ChannelScaling(means, deviations)

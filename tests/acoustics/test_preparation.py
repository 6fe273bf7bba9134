"""Preparation: the steps of the front end in their order, for sounds alone or together."""

import pytest
import torch

from samekind.acoustics import (
    Features,
    Preparation,
    lengths_of,
    only_voiced,
    padded,
    without_sliding_mean,
)
from samekind.errors import DataError, SettingError


def sounds():
    generator = torch.Generator().manual_seed(0)
    loud = [torch.randn(1, length, generator=generator) * 0.2 for length in (20000, 3000, 33000)]
    loud[0][:, 5000:12000] *= 1e-4
    return loud


@pytest.mark.parametrize(
    "settings", [{}, {"representation": "log-mel"}, {"voice_activity": False, "normalise": 0}]
)
def test_a_sound_is_prepared_as_if_alone(settings):
    prepare = Preparation(**settings)
    together = prepare(padded(sounds()))
    for sound, row in zip(sounds(), together, strict=True):
        alone = prepare(sound[None])[0]
        torch.testing.assert_close(row[:, : alone.shape[1]], alone, atol=1e-3, rtol=1e-4)
        assert row[:, alone.shape[1] :].isnan().all()


def test_the_mean_is_taken_off_before_frames_are_left_out():
    [sound, *_] = sounds()
    values, energy, lengths = Features()(sound, torch.tensor([sound.shape[1]]))
    expected, counts = only_voiced(without_sliding_mean(values, lengths), energy, lengths)
    assert int(counts[0]) < int(lengths[0])
    torch.testing.assert_close(Preparation(shortest=1)(sound[None]), expected)


def test_a_short_sound_is_repeated_and_features_pass():
    prepare = Preparation(shortest=50)
    features = prepare(torch.randn(1, 1, 1600) * 0.1)
    assert features.shape == (1, 30, 50)
    assert torch.equal(features[..., :10], features[..., 10:20])
    assert torch.equal(prepare(features), features)
    assert lengths_of(prepare(padded([torch.randn(30, 80), torch.randn(30, 20)]))).tolist() == [80, 50]


def test_refuses_other_shapes_and_settings():
    for x in (torch.zeros(2, 100), torch.zeros(2, 2, 100), torch.zeros(2, 1, 100, dtype=torch.int16)):
        with pytest.raises(DataError, match="the encoder takes sounds"):
            Preparation()(x)
    with pytest.raises(SettingError):
        Preparation(shortest=0)

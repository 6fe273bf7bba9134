"""Published speaker networks: their own front ends, frozen or trained, without their file once saved."""

import hashlib

import pytest
import torch

from samekind.acoustics import padded
from samekind.encoders import SpeakerNetwork
from samekind.encoders.freezing import came_with_weights, frozen_as_drawn
from samekind.encoders.speaker_network import SpeakerPreparation
from samekind.errors import DataError, SettingError
from samekind.parts import describe

LENGTHS = (9000, 16000, 300)


@pytest.fixture
def sounds():
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(1, length, generator=generator) * 0.1 for length in LENGTHS]


@pytest.fixture
def weights(tmp_path):
    """A file like the published one, and its fingerprint."""
    torch.manual_seed(5)
    path = tmp_path / "campplus.pt"
    torch.save(SpeakerNetwork(network="cam++").module.state_dict(), path)
    return {"weights": str(path), "fingerprint": hashlib.sha256(path.read_bytes()).hexdigest()}


@pytest.mark.parametrize("network", ["ecapa", "cam++", "resnet34"])
def test_features_depend_on_the_sound_alone_and_have_no_mean(sounds, network):
    prepare = SpeakerPreparation(network)
    together = prepare(padded(sounds))
    for sound, values in zip(sounds, together, strict=True):
        alone = prepare(sound[None])[0]
        torch.testing.assert_close(values[:, : alone.shape[1]], alone, atol=1e-3, rtol=1e-4)
        assert values[:, alone.shape[1] :].isnan().all()
        torch.testing.assert_close(alone.mean(1), torch.zeros(80), atol=1e-3, rtol=0)
    assert torch.equal(prepare(together).nan_to_num(7), together.nan_to_num(7))  # features go on as they are


@pytest.mark.parametrize("network", ["ecapa", "resnet34"])
def test_padding_changes_no_embedding(sounds, network):
    torch.manual_seed(0)
    encoder = SpeakerNetwork(network=network).eval()
    with torch.no_grad():
        alone = torch.cat([encoder(sound[None]) for sound in sounds])
        torch.testing.assert_close(encoder(padded(sounds)), alone, atol=1e-3, rtol=1e-3)


def test_weights_come_from_the_file_and_are_not_asked_for_again(weights, sounds):
    torch.manual_seed(5)
    same = SpeakerNetwork(network="cam++").eval()
    encoder = SpeakerNetwork(network="cam++", **weights).eval()
    assert torch.equal(encoder(sounds[0][None]), same(sounds[0][None]))
    assert describe(encoder)["arguments"] == {
        "network": "cam++",
        "weights": None,
        "fingerprint": None,
        "batch_norm": "train",
        "freeze": "none",
    }


def test_frozen_it_stays_as_it_came(weights):
    encoder = SpeakerNetwork(network="cam++", freeze="features", **weights).train()
    assert not any(parameter.requires_grad for parameter in encoder.parameters())
    assert not any(module.training for module in encoder.module.children())
    assert frozen_as_drawn(encoder) is None
    assert frozen_as_drawn(SpeakerNetwork(network="cam++", freeze="features")) == (
        "SpeakerNetwork",
        'freeze = "features"',
    )
    first_only = SpeakerNetwork(network="cam++", freeze="stem", **weights)
    learned = {name for name, parameter in first_only.named_parameters() if parameter.requires_grad}
    assert learned == {name for name, _ in first_only.named_parameters() if ".head." not in name}
    assert len(came_with_weights(first_only)) == len(list(first_only.module.children()))


def test_another_file_network_or_input_is_refused(weights):
    with pytest.raises(SettingError, match="If you trust it, give that as fingerprint"):
        SpeakerNetwork(network="cam++", weights=weights["weights"])
    with pytest.raises(SettingError, match='"ecapa", "cam\\+\\+" or "resnet34", got "x-vector"'):
        SpeakerNetwork(network="x-vector")
    with pytest.raises(DataError, match="takes sounds"):
        SpeakerNetwork(network="cam++")(torch.zeros(1, 3, 100))

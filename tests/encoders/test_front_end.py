"""The front end before a network: padding and neighbours change nothing."""

import pytest
import torch

from samekind.acoustics import padded
from samekind.encoders import ECAPA, MLP, FrontEnd, SoundResNet, XVector
from samekind.errors import SettingError

NETWORKS = {
    "x-vector": (lambda: XVector(width=32, last_width=48), "mfcc"),
    "of the authors, attentive": (
        lambda: XVector(width=32, last_width=48, variant="authors", pooling="attentive"),
        "mfcc",
    ),
    "ecapa": (lambda: ECAPA(width=32, last_width=48), "log-mel"),
    "resnet": (lambda: SoundResNet(width=4), "log-mel"),
    "resnet, attentive": (lambda: SoundResNet(width=4, pooling="attentive"), "log-mel"),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_padding_never_changes_an_embedding(name):
    network, representation = NETWORKS[name]
    torch.manual_seed(0)
    encoder = FrontEnd(encoder=network(), representation=representation).eval()
    for module in encoder.modules():
        if isinstance(module, torch.nn.BatchNorm1d | torch.nn.BatchNorm2d):
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2)
    sounds = [torch.randn(1, length) * 0.1 for length in (16000, 9000, 25000, 300)]
    with torch.no_grad():
        together = encoder(padded(sounds))
        longer = encoder(torch.nn.functional.pad(padded(sounds), (0, 5000), value=torch.nan))
        alone = torch.cat([encoder(sound[None]) for sound in sounds])
        from_features = encoder(encoder.prepared(padded(sounds)))
    for other in (longer, alone, from_features):
        torch.testing.assert_close(other, together, atol=1e-4, rtol=1e-4)


def test_it_is_for_networks_of_sounds():
    with pytest.raises(SettingError, match="FrontEnd needs an encoder of sounds, such as XVector; got MLP"):
        FrontEnd(encoder=MLP(inputs=3))

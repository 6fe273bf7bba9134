"""Features of sounds in NumPy, against those of PyTorch."""

import numpy as np
import pytest
import torch

from samekind.acoustics import lengths_of
from samekind.encoders import FrameStatistics, FrontEnd
from samekind.exporting.encoder import front_end_of
from samekind.portable.front_end import FrontEnd as PortableFrontEnd


def both(**settings):
    coefficients = settings.pop("coefficients", 20)
    network = FrontEnd(encoder=FrameStatistics(coefficients=coefficients), **settings)
    described, arrays = front_end_of(network.preparation)
    return network, PortableFrontEnd(
        described, *(arrays[f"{name}.npy"] for name in ("window", "filters", "cosines"))
    )


def waveform(samples, seed=0):
    generator = torch.Generator().manual_seed(seed)
    loudness = torch.linspace(0, 7, samples).sin().square()
    return (0.4 * loudness * torch.randn(samples, generator=generator)).clamp(-1, 1)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"representation": "log-mel", "coefficients": 40},
        {"voice_activity": False, "normalise": 0},
        {"rate": 8000, "window": "hamming", "normalise": 50},
        {"window": "hann", "shortest": 30},
    ],
)
@pytest.mark.parametrize("samples", [16000, 4000, 300, 100, 1])
def test_agrees_with_pytorch(settings, samples):
    network, portable = both(**settings)
    x = waveform(samples)
    expected = network.prepared(x[None, None])
    length = int(lengths_of(expected))
    features = portable.features(x.numpy())
    assert features.dtype == np.float32
    assert features.shape == (expected.shape[1], length)
    np.testing.assert_allclose(features, expected[0, :, :length].numpy(), atol=2e-3, rtol=1e-4)


def test_silence_gives_the_features_of_the_network():
    network, portable = both()
    x = torch.zeros(8000)
    np.testing.assert_allclose(
        portable.features(x.numpy()), network.prepared(x[None, None])[0].numpy(), atol=1e-3
    )

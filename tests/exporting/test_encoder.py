"""Every encoder of the room as a graph: the same embeddings, for any number of items and any length."""

import numpy as np
import pytest
import torch

from samekind import encoders as room
from samekind.data import ArrayReader, ImageReader, SoundReader, VectorReader
from samekind.encoders.foreign import Foreign
from samekind.errors import SpaceError
from samekind.exporting.encoder import encoder_files
from samekind.portable.sessions import Session

VECTORS, GREY, COLOUR = (4,), (1, 28, 28), (3, 32, 32)
SMALL = {"depth": 10, "width": 1, "dimension": 6}


def mlp(inputs=4, dimension=6):
    return room.MLP(inputs=inputs, dimension=dimension, hidden=[5])


def network():
    return room.WideResNet(**SMALL)


# A small one of every encoder, and the shape of its items.
SMALL_ONES = {
    "Attended": (lambda: room.Attended(backbone=room.Conv4(size=32)), COLOUR),
    "BNInception": (room.BNInception, (3, 64, 64)),
    "Backbone": (lambda: room.Backbone(library="timm", network="tiny", weights=False), COLOUR),
    "Compressed": (lambda: room.Compressed(encoder=mlp(), dimension=2), VECTORS),
    "Conv4": (lambda: room.Conv4(channels=3, size=32), COLOUR),
    "EfficientNetLite": (lambda: room.EfficientNetLite(weights=False, stochastic_depth=0.2), COLOUR),
    "Headed": (lambda: room.Headed(encoder=mlp(), head=mlp(inputs=6)), VECTORS),
    "InceptionV3": (room.InceptionV3, (3, 75, 75)),
    "LeNet": (room.LeNet, GREY),
    "MLP": (mlp, VECTORS),
    "PreActResNet18": (room.PreActResNet18, COLOUR),
    "ResNet10": (room.ResNet10, COLOUR),
    "ResNet12": (room.ResNet12, COLOUR),
    "ResNet18": (lambda: room.ResNet18(pooling="average+maximum", layer_norm=True), COLOUR),
    "ResNet34": (room.ResNet34, COLOUR),
    "ResNet50": (room.ResNet50, COLOUR),
    "ResidualMLP": (lambda: room.ResidualMLP(inputs=4), VECTORS),
    "SideBySide": (lambda: room.SideBySide(encoders=[network(), network()], sizes=[32, 24]), COLOUR),
    "SmallConvnet": (lambda: room.SmallConvnet(channels=3, size=32), COLOUR),
    "Standardised": (
        lambda: room.Standardised(encoder=network(), means=[0.4] * 3, deviations=[0.2] * 3),
        COLOUR,
    ),
    "Unchanged": (lambda: room.Unchanged(inputs=4), VECTORS),
    "Views": (lambda: room.Views(encoder=network(), size=40), (3, 32, 28)),
    "WideResNet": (network, COLOUR),
    "WithSize": (lambda: room.WithSize(encoder=network()), (4, 32, 32)),
}
# Encoders of sounds are exported from features on.
SOUNDS = {
    "CAMPlusPlus": lambda: room.CAMPlusPlus(bands=16, dimension=6),
    "ECAPA": lambda: room.ECAPA(bands=20, width=16, last_width=24, dimension=6),
    "FrameStatistics": lambda: room.FrameStatistics(coefficients=20),
    "FrontEnd": lambda: room.Compressed(
        encoder=room.FrontEnd(encoder=room.FrameStatistics(coefficients=20)), dimension=3
    ),
    "SoundResNet": lambda: room.SoundResNet(bands=20, width=2, dimension=6),
    "XVector": lambda: room.XVector(coefficients=20, width=8, last_width=12, dimension=6),
}
#: Of a frame, where it has not 20.
COEFFICIENTS = {"CAMPlusPlus": 16}
# Those whose graphs take seconds to write.
LARGE = (
    "Attended",
    "BNInception",
    "CAMPlusPlus",
    "ECAPA",
    "InceptionV3",
    "PreActResNet18",
    "ResNet10",
    "ResNet12",
)
LARGE += ("ResNet18", "ResNet34", "ResNet50", "SideBySide", "SoundResNet")


def listed(names):
    return [pytest.param(name, marks=[pytest.mark.slow] * (name in LARGE)) for name in names]


def test_no_encoder_is_forgotten():
    assert {*SMALL_ONES, *SOUNDS, "SpeakerNetwork"} == set(room.__all__)


def test_a_published_speaker_network_is_refused_with_a_sentence():
    with pytest.raises(SpaceError, match=r"SpeakerNetwork\) has 0 front ends .* such as FrontEnd"):
        encoder_files(room.SpeakerNetwork(network="cam++").eval(), SoundReader())


def reader_for(shape):
    if len(shape) == 1:
        return VectorReader(dimension=shape[0])
    if shape[0] in (2, 4):
        return ImageReader(height=shape[1], width=shape[2], channels=shape[0] - 1, original_size=True)
    return ArrayReader(shape=shape)


def moved(encoder):
    """In evaluation mode, its running statistics no longer those of the start."""
    generator = torch.Generator().manual_seed(0)
    for name, buffer in encoder.named_buffers():
        if name.endswith("running_mean"):
            buffer.copy_(0.1 * torch.randn(buffer.shape, generator=generator))
        if name.endswith("running_var"):
            buffer.copy_(0.5 + torch.rand(buffer.shape, generator=generator))
    return encoder.eval()


def agrees(encoder, session, items):
    with torch.no_grad():
        expected = encoder(items).numpy()
    embeddings = session.run(items.numpy())
    assert embeddings.shape == expected.shape
    np.testing.assert_allclose(embeddings, expected, atol=1e-5 * max(1, np.abs(expected).max()), rtol=1e-4)


@pytest.mark.parametrize("name", listed(SMALL_ONES))
def test_agrees_with_pytorch(name, request):
    if name == "Backbone":
        request.getfixturevalue("timm")
    if name == "EfficientNetLite":
        pytest.importorskip("efficientnet_lite_pytorch")
    make, shape = SMALL_ONES[name]
    torch.manual_seed(0)
    encoder = moved(make())
    session = Session(encoder_files(encoder, reader_for(shape)).graph, name)
    for count in (1, 2, 5):
        agrees(encoder, session, torch.rand(count, *shape))


@pytest.mark.parametrize("name", listed(SOUNDS))
def test_sounds_of_any_length_agree(name):
    torch.manual_seed(0)
    network = moved(SOUNDS[name]())
    if name != "FrontEnd":
        network = room.FrontEnd(encoder=network, shortest=30).eval()
    files = encoder_files(network, SoundReader())
    session = Session(files.graph, name)
    assert set(files.arrays) == {"window.npy", "filters.npy", "cosines.npy"}
    for count, frames in ((1, 40), (3, 257), (2, 8)):
        items = torch.randn(count, COEFFICIENTS.get(name, 20), frames)
        items[0, :, frames - 3 :] = torch.nan
        agrees(network, session, items)


def test_a_foreign_encoder_can_be_exported():
    encoder = Foreign(torch.nn.Conv2d(3, 6, 3), feature_dimension=6, dimension=4).eval()
    session = Session(encoder_files(encoder, reader_for(COLOUR)).graph, "x")
    agrees(encoder, session, torch.rand(3, *COLOUR))


def test_one_that_cannot_be_a_graph_is_named():
    class Undecided(torch.nn.Module):
        dimension = 4

        def forward(self, x):
            return x if x.sum().item() > 0 else -x

    with pytest.raises(SpaceError, match=r"the encoder \(Undecided\) cannot be written as ONNX: "):
        encoder_files(Undecided(), VectorReader(dimension=4))


def test_sounds_need_one_front_end():
    with pytest.raises(SpaceError, match="has 0 front ends"):
        encoder_files(room.FrameStatistics(), SoundReader())

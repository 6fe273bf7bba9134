"""Inception-v3, for images of 299 pixels.

Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", CVPR 2016. Layers have
torchvision's names, so its weights fit, but for the classifiers: there is no auxiliary one here.
"""

from collections.abc import Callable, Iterator
from functools import partial

from torch import nn

from samekind.encoders.inception_modules import (
    InceptionA,
    InceptionB,
    InceptionC,
    InceptionD,
    InceptionE,
    unit,
)
from samekind.encoders.stages import Stage, constructor, image_network

SMALLEST = 75  # with fewer pixels the last map would be empty

# The modules after the stem: output channels, and how to build one for its input channels.
MIXED: dict[str, tuple[int, Callable[[int], nn.Module]]] = {
    "Mixed_5b": (256, partial(InceptionA, pooled=32)),
    "Mixed_5c": (288, partial(InceptionA, pooled=64)),
    "Mixed_5d": (288, partial(InceptionA, pooled=64)),
    "Mixed_6a": (768, InceptionB),
    "Mixed_6b": (768, partial(InceptionC, narrow=128)),
    "Mixed_6c": (768, partial(InceptionC, narrow=160)),
    "Mixed_6d": (768, partial(InceptionC, narrow=160)),
    "Mixed_6e": (768, partial(InceptionC, narrow=192)),
    "Mixed_7a": (1280, InceptionD),
    "Mixed_7b": (2048, InceptionE),
    "Mixed_7c": (2048, InceptionE),
}


def _stages(channels: int) -> Iterator[Stage]:
    stem = {
        "Conv2d_1a_3x3": unit(channels, 32, 3, stride=2),
        "Conv2d_2a_3x3": unit(32, 32, 3),
        "Conv2d_2b_3x3": unit(32, 64, 3, padding=1),
        "maxpool1": nn.MaxPool2d(3, stride=2),
        "Conv2d_3b_1x1": unit(64, 80, 1),
        "Conv2d_4a_3x3": unit(80, 192, 3),
        "maxpool2": nn.MaxPool2d(3, stride=2),
    }
    yield Stage("stem", 192, stem)
    inputs = 192
    for name, (outputs, module) in MIXED.items():
        yield Stage(name, outputs, {name: module(inputs)})
        inputs = outputs


@image_network
class InceptionV3(nn.Module):
    """Images (n, channels, height, width) of 75 pixels or more, meant for 299, to embeddings (n, dimension).

    With ``dimension`` None or 2048 the embeddings are the pooled features themselves, none of them
    negative; with any other (128 in the plankton embedding of Kim's thesis) a linear map of these.
    The other settings are those of `ResNet18`.
    """

    dimension: int
    __init__ = constructor(_stages, smallest=SMALLEST)

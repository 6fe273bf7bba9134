"""An encoder that fits the items."""

from collections.abc import Sequence
from typing import Literal

from samekind.training import Part


def encoder_for(shape: Sequence[int], *, dimension: int) -> Part:
    """A small convnet up to 32 pixels (a LeNet for 28 grey ones), ResNet-18 above, and for what is no square,
    an MLP for anything but images.
    """
    if len(shape) != 3:
        return Part("MLP", {"dimension": dimension})
    channels, height, width = shape
    if height != width and max(height, width) <= 32:
        return Part("ResNet18", {"stem": "cifar", "dimension": dimension})
    if width > 32 or height != width:
        return Part("ResNet18", {"stem": "imagenet", "dimension": dimension})
    if width == 28 and channels == 1:
        return Part("LeNet", {"dimension": dimension})
    if width == 32 and channels == 3:
        return Part("ResNet18", {"stem": "cifar", "dimension": dimension})
    return Part("SmallConvnet", {"dimension": dimension})


def standardise_for(shape: Sequence[int]) -> Literal["none", "features"]:
    """Features of vectors are standardised, for they may have any scale; pixels are in [0, 1] as they are."""
    return "features" if len(shape) == 1 else "none"

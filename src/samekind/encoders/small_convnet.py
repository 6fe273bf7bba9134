"""A small convolutional network for small images, such as the 8-pixel digits."""

from torch import nn

from samekind.encoders.stages import embedded, square_features
from samekind.errors import SettingError


class SmallConvnet(nn.Module):
    """Square images (n, channels, size, size), meant for 8 to 32 pixels, to embeddings (n, dimension).

    Stages of two 3x3 convolutions and a pooling that halves the side, until it is 2 or 3; ``width``
    channels in the first stage, twice that in the second and four times from the third on. The last map
    is flattened, not averaged: it matters where a stroke is.
    """

    def __init__(self, *, channels: int = 1, size: int = 8, dimension: int = 64, width: int = 32) -> None:
        super().__init__()
        if size < 8:
            raise SettingError(f"SmallConvnet needs images of 8 pixels or more, got {size}")
        if min(channels, dimension, width) < 1:
            raise SettingError(
                f"channels, dimension and width must be at least 1; got {channels}, {dimension} and {width}"
            )
        self.channels = channels
        self.size = size
        self.dimension = dimension
        self.width = width
        stages: list[nn.Module] = []
        inputs, outputs, side = channels, width, size
        while side >= 4:
            stages += [*_convolution(inputs, outputs), *_convolution(outputs, outputs), nn.MaxPool2d(2)]
            inputs, outputs, side = outputs, min(2 * outputs, 4 * width), side // 2
        self.layers = nn.Sequential(*stages, nn.Flatten())
        self.embedding = nn.Linear(inputs * side * side, dimension)

    features = square_features
    forward = embedded


def _convolution(inputs: int, outputs: int) -> tuple[nn.Module, nn.Module, nn.Module]:
    """3x3 convolution, batch normalisation, ReLU; the side stays."""
    return nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()

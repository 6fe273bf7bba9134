"""Four convolutions: the small network of few-shot learning.

Vinyals et al., "Matching Networks for One Shot Learning", NeurIPS 2016; with the details, and the initial
weights, of Chen et al., "A Closer Look at Few-shot Classification", ICLR 2019.
"""

from collections.abc import Iterator

from torch import Tensor, nn

from samekind.encoders.freezing import BatchNorm, Freeze
from samekind.encoders.images import expect_images
from samekind.encoders.pooling import normalised
from samekind.encoders.stages import ImageSettings, Stage, compose, image_network, last_map, maps_of
from samekind.errors import SettingError


@image_network
class Conv4(nn.Module):
    """Square images (n, channels, size, size) to embeddings (n, dimension).

    Four times a 3x3 convolution of 64 channels, batch normalisation, ReLU and a pooling that halves the
    side. The last map is flattened, not averaged: 1600 features at 84 pixels. With ``dimension`` None (or
    their number) they are the embeddings, none of them negative; with any other these are a linear map of
    them. The other settings are those of `ResNet18`.
    """

    channels: int
    dimension: int
    came_later = ("batch_norm", "freeze", "layer_norm")

    def __init__(
        self,
        *,
        channels: int = 3,
        size: int = 84,
        dimension: int | None = None,
        checkpointing: bool = False,
        batch_norm: BatchNorm = "train",
        freeze: Freeze = "none",
        layer_norm: bool = False,
    ) -> None:
        super().__init__()
        if size < 16:
            raise SettingError(
                f"Conv4 needs images of 16 pixels or more, got {size}; SmallConvnet takes 8 and more"
            )
        self.size = size
        settings = ImageSettings(
            channels, dimension, checkpointing, batch_norm, freeze, layer_norm=layer_norm
        )
        compose(self, _layers(channels), settings, places=(size // 16) ** 2)

    def maps(self, x: Tensor) -> dict[str, Tensor]:
        """The output of each stage, (n, 64, H, W); the last is flattened."""
        expect_images(x, channels=self.channels, size=self.size)
        return maps_of(self, x)

    def features(self, x: Tensor) -> Tensor:
        """The last map, flattened: (n, 1600) for 84 pixels."""
        expect_images(x, channels=self.channels, size=self.size)
        return normalised(self, last_map(self, x).flatten(1))


def _layers(channels: int) -> Iterator[Stage]:
    """The four layers. They pool before ReLU, not after: every number and every gradient is the same, and
    ReLU has a quarter of the numbers to read.
    """
    for place, inputs in enumerate((channels, 64, 64, 64), start=1):
        convolution = nn.Conv2d(inputs, 64, 3, padding=1)
        layer = nn.Sequential(convolution, nn.BatchNorm2d(64), nn.MaxPool2d(2), nn.ReLU())
        yield Stage(f"layer{place}", 64, {f"layer{place}": layer})

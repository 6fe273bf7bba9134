"""Four convolutions: the small network of few-shot learning.

Vinyals et al., "Matching Networks for One Shot Learning", NeurIPS 2016; with the details, and the initial
weights, of Chen et al., "A Closer Look at Few-shot Classification", ICLR 2019.
"""

from torch import Tensor, nn

from samekind.encoders.freezing import BatchNorm, Freeze, begin, expect_choices, train_unless_frozen
from samekind.encoders.images import expect_images, expect_sizes
from samekind.encoders.residual_blocks import start_convolutions
from samekind.encoders.stages import embedding_layer, last_map, maps_of
from samekind.errors import SettingError


class Conv4(nn.Module):
    """Square images (n, channels, size, size) to embeddings (n, dimension).

    Four times a 3x3 convolution of 64 channels, batch normalisation, ReLU and a pooling that halves the
    side. The last map is flattened, not averaged: 1600 features at 84 pixels. With ``dimension`` None (or
    their number) they are the embeddings, none of them negative; with any other these are a linear map of
    them. ``checkpointing``: each stage is computed again in the backward pass, to save memory.
    ``batch_norm`` and ``freeze`` are those of `ResNet18`.
    """

    came_later = ("batch_norm", "freeze")

    def __init__(
        self,
        *,
        channels: int = 3,
        size: int = 84,
        dimension: int | None = None,
        checkpointing: bool = False,
        batch_norm: BatchNorm = "train",
        freeze: Freeze = "none",
    ) -> None:
        super().__init__()
        expect_sizes({"channels": channels, "dimension": dimension})
        expect_choices(batch_norm=batch_norm, freeze=freeze)
        if size < 16:
            raise SettingError(
                f"Conv4 needs images of 16 pixels or more, got {size}; SmallConvnet takes 8 and more"
            )
        self.channels = channels
        self.size = size
        self.feature_dimension = 64 * (size // 16) ** 2
        self.dimension = dimension or self.feature_dimension
        self.checkpointing = checkpointing
        self.batch_norm: BatchNorm = batch_norm
        self.freeze: Freeze = freeze
        self.map_channels = {"layer1": 64, "layer2": 64, "layer3": 64, "layer4": 64}
        self.layer1 = _layer(channels)
        self.layer2 = _layer(64)
        self.layer3 = _layer(64)
        self.layer4 = _layer(64)
        self.embedding = embedding_layer(self.feature_dimension, dimension)
        start_convolutions(self)
        begin(self)

    def stages(self) -> dict[str, list[nn.Module]]:
        """The modules of each stage, from the input to the embedding."""
        return {
            "layer1": [self.layer1],
            "layer2": [self.layer2],
            "layer3": [self.layer3],
            "layer4": [self.layer4],
            "embedding": [self.embedding],
        }

    train = train_unless_frozen

    def maps(self, x: Tensor) -> dict[str, Tensor]:
        """What comes out of each stage, (n, 64, H, W); the last is what is flattened."""
        expect_images(x, channels=self.channels, size=self.size)
        return maps_of(self, x)

    def features(self, x: Tensor) -> Tensor:
        """The last map, flattened: (n, 1600) for 84 pixels."""
        expect_images(x, channels=self.channels, size=self.size)
        return last_map(self, x).flatten(1)

    def forward(self, x: Tensor) -> Tensor:
        embeddings: Tensor = self.embedding(self.features(x))
        return embeddings


def _layer(inputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(inputs, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2))

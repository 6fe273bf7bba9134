"""ResNet-18 with pre-activation, for small images such as those of CIFAR.

He et al., "Identity Mappings in Deep Residual Networks", ECCV 2016.
"""

from torch import nn

from samekind.encoders.freezing import BatchNorm, Freeze, begin, expect_choices, train_unless_frozen
from samekind.encoders.images import expect_sizes
from samekind.encoders.residual_blocks import PreActivationBlock, in_a_row, start_convolutions
from samekind.encoders.stages import embedded, embedding_layer, image_maps, pooled_features


class PreActResNet18(nn.Module):
    """Images (n, channels, height, width), best of about 32 pixels, to embeddings (n, dimension).

    With ``dimension`` None or 512 the embeddings are the average over places of what the last block gives,
    with no batch normalisation or ReLU after it, so of either sign; with any other they are a linear map of
    these. ``checkpointing``: each stage is computed again in the backward pass, to save memory.
    ``batch_norm`` and ``freeze`` are those of `ResNet18`.
    """

    came_later = ("batch_norm", "freeze")

    def __init__(
        self,
        *,
        channels: int = 3,
        dimension: int | None = None,
        checkpointing: bool = False,
        batch_norm: BatchNorm = "train",
        freeze: Freeze = "none",
    ) -> None:
        super().__init__()
        expect_sizes({"channels": channels, "dimension": dimension})
        expect_choices(batch_norm=batch_norm, freeze=freeze)
        self.channels = channels
        self.feature_dimension = 512
        self.dimension = dimension or self.feature_dimension
        self.checkpointing = checkpointing
        self.batch_norm: BatchNorm = batch_norm
        self.freeze: Freeze = freeze
        self.smallest = 1
        self.map_channels = {"stem": 64, "layer1": 64, "layer2": 128, "layer3": 256, "layer4": 512}
        self.conv1 = nn.Conv2d(channels, 64, 3, padding=1, bias=False)
        self.layer1 = in_a_row(PreActivationBlock, 64, 64, outputs=64, count=2, stride=1)
        self.layer2 = in_a_row(PreActivationBlock, 64, 128, outputs=128, count=2, stride=2)
        self.layer3 = in_a_row(PreActivationBlock, 128, 256, outputs=256, count=2, stride=2)
        self.layer4 = in_a_row(PreActivationBlock, 256, 512, outputs=512, count=2, stride=2)
        self.embedding = embedding_layer(self.feature_dimension, dimension)
        start_convolutions(self)
        begin(self)

    def stages(self) -> dict[str, list[nn.Module]]:
        """The modules of each stage, from the input to the embedding."""
        return {
            "stem": [self.conv1],
            "layer1": [self.layer1],
            "layer2": [self.layer2],
            "layer3": [self.layer3],
            "layer4": [self.layer4],
            "embedding": [self.embedding],
        }

    train = train_unless_frozen
    maps = image_maps
    features = pooled_features
    forward = embedded

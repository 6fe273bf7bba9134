"""Wide residual networks, for small images.

Zagoruyko and Komodakis, "Wide Residual Networks", BMVC 2016.
"""

from functools import partial

from torch import nn

from samekind.encoders.freezing import BatchNorm, Freeze, begin, expect_choices, train_unless_frozen
from samekind.encoders.images import expect_sizes
from samekind.encoders.residual_blocks import PreActivationBlock, in_a_row, start_convolutions
from samekind.encoders.stages import embedded, embedding_layer, image_maps, pooled_features
from samekind.errors import SettingError


class WideResNet(nn.Module):
    """Images (n, channels, height, width), best of about 32 pixels, to embeddings (n, dimension).

    The defaults are WRN-28-10: ``depth`` counts convolutions, six for each block of a layer and four
    more, and ``width`` multiplies the 16, 32 and 64 channels of its three layers. With ``dimension`` None
    or 64 x width (640) the embeddings are the pooled features themselves, none of them negative; with any
    other a linear map of these. ``checkpointing``: each stage is computed again in the backward pass, to
    save memory. ``batch_norm`` and ``freeze`` are those of `ResNet18`.
    """

    came_later = ("batch_norm", "freeze")

    def __init__(
        self,
        *,
        channels: int = 3,
        depth: int = 28,
        width: int = 10,
        dropout: float = 0.3,
        dimension: int | None = None,
        checkpointing: bool = False,
        batch_norm: BatchNorm = "train",
        freeze: Freeze = "none",
    ) -> None:
        super().__init__()
        expect_sizes({"channels": channels, "depth": depth, "width": width, "dimension": dimension})
        expect_choices(batch_norm=batch_norm, freeze=freeze)
        if depth < 10 or depth % 6 != 4:
            raise SettingError(f"the depth is 6 x blocks + 4, such as 10, 16, 22, 28 or 40; got {depth}")
        if not 0 <= dropout < 1:
            raise SettingError(f"dropout is a probability below 1; got {dropout}")
        self.channels = channels
        self.depth = depth
        self.width = width
        self.dropout = dropout
        self.feature_dimension = 64 * width
        self.dimension = dimension or self.feature_dimension
        self.checkpointing = checkpointing
        self.batch_norm: BatchNorm = batch_norm
        self.freeze: Freeze = freeze
        self.smallest = 1
        first, second, third = 16 * width, 32 * width, 64 * width
        self.map_channels = {"stem": 16, "layer1": first, "layer2": second, "layer3": third, "active": third}
        block, count = partial(PreActivationBlock, dropout=dropout), (depth - 4) // 6
        self.conv1 = nn.Conv2d(channels, 16, 3, padding=1, bias=False)
        self.layer1 = in_a_row(block, 16, first, outputs=first, count=count, stride=1)
        self.layer2 = in_a_row(block, first, second, outputs=second, count=count, stride=2)
        self.layer3 = in_a_row(block, second, third, outputs=third, count=count, stride=2)
        self.bn1 = nn.BatchNorm2d(third)
        self.relu = nn.ReLU()
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
            "active": [self.bn1, self.relu],
            "embedding": [self.embedding],
        }

    train = train_unless_frozen
    maps = image_maps
    features = pooled_features
    forward = embedded

"""ResNet-12, the network of few-shot learning at 84 pixels.

As in Lee et al., "Meta-Learning with Differentiable Convex Optimization", CVPR 2019, without its DropBlock.
"""

import torch.nn.functional as F
from torch import Tensor, nn

from samekind.encoders.freezing import BatchNorm, Freeze, begin, expect_choices, train_unless_frozen
from samekind.encoders.images import expect_sizes
from samekind.encoders.residual_blocks import start_convolutions
from samekind.encoders.stages import embedded, embedding_layer, image_maps, pooled_features

SMALLEST = 16  # each of the four blocks halves the side


class ResNet12(nn.Module):
    """Images (n, channels, height, width) of 16 pixels or more to embeddings (n, dimension).

    Four blocks of 64, 160, 320 and 640 channels. With ``dimension`` None or 640 the embeddings are the
    pooled features themselves; with any other they are a linear map of these. ``checkpointing``: each
    stage is computed again in the backward pass, to save memory. ``batch_norm`` and ``freeze`` are
    those of `ResNet18`.
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
        self.feature_dimension = 640
        self.dimension = dimension or self.feature_dimension
        self.checkpointing = checkpointing
        self.batch_norm: BatchNorm = batch_norm
        self.freeze: Freeze = freeze
        self.smallest = SMALLEST
        self.map_channels = {"layer1": 64, "layer2": 160, "layer3": 320, "layer4": 640}
        self.layer1 = LeakyBlock(channels, 64)
        self.layer2 = LeakyBlock(64, 160)
        self.layer3 = LeakyBlock(160, 320)
        self.layer4 = LeakyBlock(320, 640)
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
    maps = image_maps
    features = pooled_features
    forward = embedded


class LeakyBlock(nn.Module):
    """Three 3x3 convolutions around a projected shortcut, leaky ReLUs of slope 0.1, and a pooling that halves
    the side.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.conv3 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        inner = F.leaky_relu(self.bn1(self.conv1(x)), 0.1)
        inner = F.leaky_relu(self.bn2(self.conv2(inner)), 0.1)
        summed = self.bn3(self.conv3(inner)) + self.downsample(x)
        return F.max_pool2d(F.leaky_relu(summed, 0.1), 2)

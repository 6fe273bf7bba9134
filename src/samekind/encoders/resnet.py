"""ResNet-18, -34 and -50, with a stem for small, middling or large images.

He et al., "Deep Residual Learning for Image Recognition", CVPR 2016. Layers have torchvision's names, so its
weights fit.
"""

from collections.abc import Mapping
from typing import Literal

from torch import nn

from samekind.encoders.freezing import BatchNorm, Freeze, begin, expect_choices, train_unless_frozen
from samekind.encoders.images import expect_sizes
from samekind.encoders.residual_blocks import BasicBlock, Bottleneck, in_a_row, start_convolutions
from samekind.encoders.stages import embedded, embedding_layer, image_maps, pooled_features
from samekind.errors import SettingError

#: How an image enters: "cifar" keeps its size (3x3 convolution), for about 32 pixels; "miniimagenet"
#: halves it (5x5 and pooling; Monteiro et al., "An end-to-end approach for the verification problem",
#: 2020), for about 84; "imagenet" divides it by four (7x7 and pooling), for about 224.
Stem = Literal["cifar", "imagenet", "miniimagenet"]


class ResNet18(nn.Module):
    """Images (n, channels, height, width) of any size to embeddings (n, dimension).

    With ``dimension`` None or 512 the embeddings are the pooled features themselves, none of them negative;
    with any other they are a linear map of these. ``checkpointing`` saves memory for time in training: each
    stage is computed again in the backward pass. ``batch_norm`` "frozen" keeps the statistics of the weights
    it is given; ``freeze`` "stem" or "features" takes the first stage, or all but the embedding layer, out
    of training.
    """

    came_later = ("batch_norm", "freeze")

    def __init__(
        self,
        *,
        channels: int = 3,
        stem: Stem = "cifar",
        dimension: int | None = None,
        checkpointing: bool = False,
        batch_norm: BatchNorm = "train",
        freeze: Freeze = "none",
    ) -> None:
        super().__init__()
        expect_sizes({"channels": channels, "dimension": dimension})
        expect_choices(batch_norm=batch_norm, freeze=freeze)
        self.channels = channels
        self.stem = stem
        self.feature_dimension = 512
        self.dimension = dimension or self.feature_dimension
        self.checkpointing = checkpointing
        self.batch_norm: BatchNorm = batch_norm
        self.freeze: Freeze = freeze
        self.smallest = 1
        self.map_channels = {"stem": 64, "layer1": 64, "layer2": 128, "layer3": 256, "layer4": 512}
        self.conv1, self.bn1, self.relu, self.maxpool = _entrance(stem, channels)
        self.layer1, self.layer2, self.layer3, self.layer4 = _layers(
            BasicBlock, self.map_channels, (2, 2, 2, 2)
        )
        self.embedding = embedding_layer(self.feature_dimension, dimension)
        start_convolutions(self)
        begin(self)

    def stages(self) -> dict[str, list[nn.Module]]:
        """The modules of each stage, from the input to the embedding."""
        return _stages_of(self)

    train = train_unless_frozen
    maps = image_maps
    features = pooled_features
    forward = embedded


class ResNet34(nn.Module):
    """Like `ResNet18`, with 3, 4, 6 and 3 blocks in its four layers instead of two in each."""

    came_later = ("batch_norm", "freeze")

    def __init__(
        self,
        *,
        channels: int = 3,
        stem: Stem = "cifar",
        dimension: int | None = None,
        checkpointing: bool = False,
        batch_norm: BatchNorm = "train",
        freeze: Freeze = "none",
    ) -> None:
        super().__init__()
        expect_sizes({"channels": channels, "dimension": dimension})
        expect_choices(batch_norm=batch_norm, freeze=freeze)
        self.channels = channels
        self.stem = stem
        self.feature_dimension = 512
        self.dimension = dimension or self.feature_dimension
        self.checkpointing = checkpointing
        self.batch_norm: BatchNorm = batch_norm
        self.freeze: Freeze = freeze
        self.smallest = 1
        self.map_channels = {"stem": 64, "layer1": 64, "layer2": 128, "layer3": 256, "layer4": 512}
        self.conv1, self.bn1, self.relu, self.maxpool = _entrance(stem, channels)
        self.layer1, self.layer2, self.layer3, self.layer4 = _layers(
            BasicBlock, self.map_channels, (3, 4, 6, 3)
        )
        self.embedding = embedding_layer(self.feature_dimension, dimension)
        start_convolutions(self)
        begin(self)

    def stages(self) -> dict[str, list[nn.Module]]:
        """The modules of each stage, from the input to the embedding."""
        return _stages_of(self)

    train = train_unless_frozen
    maps = image_maps
    features = pooled_features
    forward = embedded


class ResNet50(nn.Module):
    """Like `ResNet34`, with bottlenecks for blocks: 2048 features, which ``dimension`` None or 2048 keeps."""

    came_later = ("batch_norm", "freeze")

    def __init__(
        self,
        *,
        channels: int = 3,
        stem: Stem = "cifar",
        dimension: int | None = None,
        checkpointing: bool = False,
        batch_norm: BatchNorm = "train",
        freeze: Freeze = "none",
    ) -> None:
        super().__init__()
        expect_sizes({"channels": channels, "dimension": dimension})
        expect_choices(batch_norm=batch_norm, freeze=freeze)
        self.channels = channels
        self.stem = stem
        self.feature_dimension = 2048
        self.dimension = dimension or self.feature_dimension
        self.checkpointing = checkpointing
        self.batch_norm: BatchNorm = batch_norm
        self.freeze: Freeze = freeze
        self.smallest = 1
        self.map_channels = {"stem": 64, "layer1": 256, "layer2": 512, "layer3": 1024, "layer4": 2048}
        self.conv1, self.bn1, self.relu, self.maxpool = _entrance(stem, channels)
        self.layer1, self.layer2, self.layer3, self.layer4 = _layers(
            Bottleneck, self.map_channels, (3, 4, 6, 3)
        )
        self.embedding = embedding_layer(self.feature_dimension, dimension)
        start_convolutions(self)
        begin(self)

    def stages(self) -> dict[str, list[nn.Module]]:
        """The modules of each stage, from the input to the embedding."""
        return _stages_of(self)

    train = train_unless_frozen
    maps = image_maps
    features = pooled_features
    forward = embedded


def _layers(
    block: type[BasicBlock] | type[Bottleneck], channels: Mapping[str, int], counts: tuple[int, ...]
) -> list[nn.Sequential]:
    """The four layers: so many blocks in each, twice as wide as the one before, at half its side."""
    layers, inputs = [], channels["stem"]
    for place, count in enumerate(counts):
        outputs = channels[f"layer{place + 1}"]
        layers.append(
            in_a_row(
                block, inputs, 64 * 2**place, outputs=outputs, count=count, stride=1 if place == 0 else 2
            )
        )
        inputs = outputs
    return layers


def _entrance(stem: Stem, channels: int) -> tuple[nn.Conv2d, nn.BatchNorm2d, nn.ReLU, nn.Module]:
    """The stem: convolution, batch normalisation, ReLU, and pooling where there is any."""
    shapes = {"cifar": (3, 1, 1), "imagenet": (7, 2, 3), "miniimagenet": (5, 1, 1)}
    if stem not in shapes:
        raise SettingError(f'the stem is "cifar", "imagenet" or "miniimagenet"; got "{stem}"')
    kernel, stride, padding = shapes[stem]
    convolution = nn.Conv2d(channels, 64, kernel, stride=stride, padding=padding, bias=False)
    pool = nn.Identity() if stem == "cifar" else nn.MaxPool2d(3, stride=2, padding=1)
    return convolution, nn.BatchNorm2d(64), nn.ReLU(), pool


def _stages_of(network: ResNet18 | ResNet34 | ResNet50) -> dict[str, list[nn.Module]]:
    return {
        "stem": [network.conv1, network.bn1, network.relu, network.maxpool],
        "layer1": [network.layer1],
        "layer2": [network.layer2],
        "layer3": [network.layer3],
        "layer4": [network.layer4],
        "embedding": [network.embedding],
    }

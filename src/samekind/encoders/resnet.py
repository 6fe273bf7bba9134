"""Residual networks: a stem, then layers of blocks, each layer with its width and depth.

He et al., "Deep Residual Learning for Image Recognition", CVPR 2016 (ResNet-18, -34, -50; layers have
torchvision's names, so its weights fit), and "Identity Mappings in Deep Residual Networks", ECCV 2016
(PreActResNet18). Zagoruyko and Komodakis, "Wide Residual Networks", BMVC 2016. ResNet-12 as in Lee et al.,
"Meta-Learning with Differentiable Convex Optimization", CVPR 2019, without its DropBlock.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import Any, Literal

from torch import nn

from samekind.encoders.freezing import BatchNorm, Freeze
from samekind.encoders.images import expect_sizes
from samekind.encoders.pooling import Pooling
from samekind.encoders.residual_blocks import BasicBlock, Bottleneck, LeakyBlock, PreActivationBlock, layers
from samekind.encoders.stages import ImageSettings, Stage, compose, constructor, image_network
from samekind.errors import SettingError

#: How an image enters: "cifar" keeps its size (3x3 convolution), for about 32 pixels; "miniimagenet"
#: halves it (5x5 and pooling; Monteiro et al., "An end-to-end approach for the verification problem",
#: 2020), for about 84; "imagenet" divides it by four (7x7 and pooling), for about 224.
Stem = Literal["cifar", "imagenet", "miniimagenet"]

#: Kernel, stride and padding of the stem's convolution.
STEMS = {"cifar": (3, 1, 1), "imagenet": (7, 2, 3), "miniimagenet": (5, 1, 1)}

WIDTHS = (64, 128, 256, 512)


def _entrance(stem: Stem, channels: int) -> Iterator[Stage]:
    """The stem of a ResNet: convolution, batch normalisation, ReLU, and pooling where there is any."""
    if stem not in STEMS:
        raise SettingError(f'the stem is "cifar", "imagenet" or "miniimagenet"; got "{stem}"')
    kernel, stride, padding = STEMS[stem]
    convolution = nn.Conv2d(channels, 64, kernel, stride=stride, padding=padding, bias=False)
    pool = nn.Identity() if stem == "cifar" else nn.MaxPool2d(3, stride=2, padding=1)
    yield Stage(
        "stem", 64, {"conv1": convolution, "bn1": nn.BatchNorm2d(64), "relu": nn.ReLU(), "maxpool": pool}
    )


def _convolution(channels: int, width: int) -> Iterator[Stage]:
    """The stem before pre-activation blocks: one convolution that keeps the size."""
    yield Stage("stem", width, {"conv1": nn.Conv2d(channels, width, 3, padding=1, bias=False)})


def _activation(width: int) -> Iterator[Stage]:
    """The layers after the last pre-activation block of a wide network."""
    yield Stage("active", width, {"bn1": nn.BatchNorm2d(width), "relu": nn.ReLU()})


def _leaky_layers(channels: int) -> Iterator[Stage]:
    """The four blocks of ResNet-12."""
    for place, (inputs, outputs) in enumerate(pairwise((channels, 64, 160, 320, 640)), start=1):
        yield Stage(f"layer{place}", outputs, {f"layer{place}": LeakyBlock(inputs, outputs)})


def _pre_activation_layers(channels: int) -> Iterator[Stage]:
    """The stem and the eight blocks of PreActResNet18."""
    return chain(_convolution(channels, 64), layers(PreActivationBlock, 64, WIDTHS, (2, 2, 2, 2)))


def _residual(
    block: Callable[..., nn.Module], depths: Sequence[int], *, expansion: int = 1
) -> Callable[..., None]:
    """The ``__init__`` of a ResNet with a choice of stems; see `residual_blocks.layers`."""

    def initialise(
        self: Any,
        *,
        channels: int = 3,
        stem: Stem = "cifar",
        dimension: int | None = None,
        checkpointing: bool = False,
        batch_norm: BatchNorm = "train",
        freeze: Freeze = "none",
        pooling: Pooling = "average",
        layer_norm: bool = False,
    ) -> None:
        nn.Module.__init__(self)
        self.stem = stem
        parts = chain(_entrance(stem, channels), layers(block, 64, WIDTHS, depths, expansion=expansion))
        settings = ImageSettings(channels, dimension, checkpointing, batch_norm, freeze, pooling, layer_norm)
        compose(self, parts, settings)

    return initialise


@image_network
class ResNet18(nn.Module):
    """Images (n, channels, height, width) of any size to embeddings (n, dimension).

    With ``dimension`` None or 512 the embeddings are the pooled features themselves, none of them negative;
    with any other they are a linear map of these. ``checkpointing`` saves memory for time in training: each
    stage is computed again in the backward pass. ``batch_norm`` "frozen" keeps the statistics of the weights
    it is given; ``freeze`` "stem" or "features" takes the first stage, or all but the embedding layer, out
    of training.

    ``pooling`` makes features of the last map: the average of its places, their maximum, or
    "average+maximum", the sum of both. ``layer_norm`` gives the features of each item mean 0 and variance 1,
    before the embedding layer where there is one.
    """

    dimension: int
    __init__ = _residual(BasicBlock, (2, 2, 2, 2))


@image_network
class ResNet10(nn.Module):
    """Like `ResNet18`, with one block in each of its four layers: the smallest of few-shot work, with the
    stem "imagenet" as in Chen et al., "A Closer Look at Few-shot Classification", ICLR 2019.
    """

    dimension: int
    __init__ = _residual(BasicBlock, (1, 1, 1, 1))


@image_network
class ResNet34(nn.Module):
    """Like `ResNet18`, with 3, 4, 6 and 3 blocks in its four layers instead of two in each."""

    dimension: int
    __init__ = _residual(BasicBlock, (3, 4, 6, 3))


@image_network
class ResNet50(nn.Module):
    """Like `ResNet34`, with bottlenecks for blocks: 2048 features, which ``dimension`` None or 2048 keeps."""

    dimension: int
    __init__ = _residual(Bottleneck, (3, 4, 6, 3), expansion=4)


@image_network
class PreActResNet18(nn.Module):
    """Images (n, channels, height, width), best of about 32 pixels, to embeddings (n, dimension).

    With ``dimension`` None or 512 the embeddings are the average over places of what the last block gives,
    with no batch normalisation or ReLU after it, so of either sign; with any other they are a linear map of
    these. The other settings are those of `ResNet18`.
    """

    dimension: int
    __init__ = constructor(_pre_activation_layers)


@image_network
class WideResNet(nn.Module):
    """Images (n, channels, height, width), best of about 32 pixels, to embeddings (n, dimension).

    The defaults are WRN-28-10: ``depth`` counts convolutions, six for each block of a layer and four
    more, and ``width`` multiplies the 16, 32 and 64 channels of its three layers. With ``dimension`` None
    or 64 x width (640) the embeddings are the pooled features themselves, none of them negative; with any
    other a linear map of these. The other settings are those of `ResNet18`.
    """

    dimension: int

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
        pooling: Pooling = "average",
        layer_norm: bool = False,
    ) -> None:
        super().__init__()
        expect_sizes({"depth": depth, "width": width})
        if depth < 10 or depth % 6 != 4:
            raise SettingError(f"the depth is 6 x blocks + 4, such as 10, 16, 22, 28 or 40; got {depth}")
        if not 0 <= dropout < 1:
            raise SettingError(f"dropout is a probability below 1; got {dropout}")
        self.depth = depth
        self.width = width
        self.dropout = dropout
        widths = [16 * width, 32 * width, 64 * width]
        block, depths = partial(PreActivationBlock, dropout=dropout), [(depth - 4) // 6] * 3
        parts = chain(_convolution(channels, 16), layers(block, 16, widths, depths), _activation(widths[-1]))
        settings = ImageSettings(channels, dimension, checkpointing, batch_norm, freeze, pooling, layer_norm)
        compose(self, parts, settings)


@image_network
class ResNet12(nn.Module):
    """Images (n, channels, height, width) of 16 pixels or more to embeddings (n, dimension).

    The network of few-shot learning at 84 pixels, as Lee et al. define it ("Meta-Learning with Differentiable
    Convex Optimization", CVPR 2019) after TADAM (Oreshkin et al., NeurIPS 2018), without DropBlock: four
    blocks of 64, 160, 320 and 640 channels, each of three convolutions with leaky ReLUs of slope 0.1 and a
    pooling that halves the side; their average over places is the embedding. With ``dimension`` None or 640
    the embeddings are these features themselves; with any other they are a linear map of them. The other
    settings are those of `ResNet18`.
    """

    dimension: int
    __init__ = constructor(_leaky_layers, smallest=16)

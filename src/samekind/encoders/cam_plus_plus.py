"""CAM++: a small ResNet on the spectrogram, then densely connected layers over time that weigh their channels
by the context.

Wang et al., "CAM++: A Fast and Efficient Network for Speaker Verification Using Context-Aware Masking",
Interspeech 2023. Names of tensors are those of its authors, so that their weights fit.
"""

from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.acoustics.padding import inside
from samekind.encoders.stages import embedded
from samekind.encoders.time_pooling import expect_frames, masked, statistics
from samekind.errors import SettingError

#: Layers of each dense block, and their dilation.
BLOCKS = ((12, 1), (24, 2), (16, 2))
#: Channels of the ResNet, after the first layer over time, added by each dense layer, and inside of one.
PLANES, FIRST, GROWTH, INNER = 32, 128, 32, 128
#: Frames of a segment of the context.
SEGMENT = 100


class CAMPlusPlus(nn.Module):
    """Features (n, bands, frames), padded with NaN, to embeddings (n, dimension). Made for log-mel features;
    ``bands`` is a multiple of 8.
    """

    def __init__(self, *, bands: int = 80, dimension: int = 192) -> None:
        super().__init__()
        if bands < 8 or bands % 8 or dimension < 1:
            raise SettingError(
                f"expected a multiple of 8 bands and a dimension from 1 up; got {bands} and {dimension}"
            )
        self.bands = bands
        self.dimension = dimension
        self.head = _Head()
        channels = FIRST
        layers: OrderedDict[str, nn.Module] = OrderedDict(tdnn=_First(PLANES * (bands // 8)))
        for number, (count, dilation) in enumerate(BLOCKS, start=1):
            layers[f"block{number}"] = _DenseBlock(count, channels, dilation)
            channels += count * GROWTH
            layers[f"transit{number}"] = _Transit(channels)
            channels //= 2
        layers["out_nonlinear"] = _norm(channels)
        layers["dense"] = _Last(2 * channels, dimension)
        self.xvector = nn.ModuleDict(layers)

    @property
    def coefficients(self) -> int:
        return self.bands

    def features(self, x: Tensor) -> Tensor:
        """Mean and deviation over time of the last layer on frames, (n, 1024)."""
        x, lengths = expect_frames(x, self.bands)
        x = self.head(x, lengths)
        x, lengths = self.xvector["tdnn"](x), (lengths + 1) // 2
        for number in range(1, len(BLOCKS) + 1):
            x = self.xvector[f"block{number}"](x, lengths)
            x = self.xvector[f"transit{number}"](x)
        return statistics(self.xvector["out_nonlinear"](x), lengths, sample=True)

    @property
    def embedding(self) -> nn.Module:
        return self.xvector["dense"]

    forward = embedded


class _Head(nn.Module):
    """Maps of the spectrogram (n, bands, frames) at an eighth of its bands and all of its frames."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, PLANES, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(PLANES)
        self.layer1 = nn.ModuleList([_Residual(stride=2), _Residual(stride=1)])
        self.layer2 = nn.ModuleList([_Residual(stride=2), _Residual(stride=1)])
        self.conv2 = nn.Conv2d(PLANES, PLANES, 3, stride=(2, 1), padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(PLANES)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        x = masked(self.bn1(self.conv1(x[:, None])).relu(), lengths)
        for block in (*self.layer1, *self.layer2):
            x = block(x, lengths)
        return masked(self.bn2(self.conv2(x)).relu(), lengths).flatten(1, 2)


class _Residual(nn.Module):
    """Two convolutions and what goes around them; the stride is over the bands."""

    def __init__(self, *, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(PLANES, PLANES, 3, stride=(stride, 1), padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(PLANES)
        self.conv2 = nn.Conv2d(PLANES, PLANES, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(PLANES)
        self.shortcut = nn.Sequential()
        if stride > 1:
            around = nn.Conv2d(PLANES, PLANES, 1, stride=(stride, 1), bias=False)
            self.shortcut = nn.Sequential(around, nn.BatchNorm2d(PLANES))

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        y = masked(self.bn1(self.conv1(x)).relu(), lengths)
        return masked((self.bn2(self.conv2(y)) + self.shortcut(x)).relu(), lengths)


class _First(nn.Module):
    """The first layer over time, which halves the frames."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.linear = nn.Conv1d(inputs, FIRST, 5, stride=2, padding=2, bias=False)
        self.nonlinear = _norm(FIRST)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.nonlinear(self.linear(x))
        return y


class _DenseBlock(nn.Module):
    """Layers that each get the output of all layers before."""

    def __init__(self, count: int, channels: int, dilation: int) -> None:
        super().__init__()
        for number in range(count):
            self.add_module(f"tdnnd{number + 1}", _DenseLayer(channels + number * GROWTH, dilation))

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        for layer in self.children():
            x = torch.cat([x, layer(x, lengths)], dim=1)
        return x


class _DenseLayer(nn.Module):
    """A narrow layer, and a convolution over time weighed by its context."""

    def __init__(self, channels: int, dilation: int) -> None:
        super().__init__()
        self.nonlinear1 = _norm(channels)
        self.linear1 = nn.Conv1d(channels, INNER, 1, bias=False)
        self.nonlinear2 = _norm(INNER)
        self.cam_layer = _Masking(dilation)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        x = self.nonlinear2(self.linear1(self.nonlinear1(x)))
        y: Tensor = self.cam_layer(masked(x, lengths), lengths)
        return y


class _Masking(nn.Module):
    """A convolution over time; its channels are weighed by the mean of the sound plus that of the segment."""

    def __init__(self, dilation: int) -> None:
        super().__init__()
        self.linear_local = nn.Conv1d(INNER, GROWTH, 3, dilation=dilation, padding=dilation, bias=False)
        self.linear1 = nn.Conv1d(INNER, INNER // 2, 1)
        self.linear2 = nn.Conv1d(INNER // 2, GROWTH, 1)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        whole = x.sum(-1, keepdim=True) / lengths.clamp(min=1)[:, None, None]
        weights = self.linear2(self.linear1(whole + segment_means(x, lengths)).relu()).sigmoid()
        y: Tensor = self.linear_local(x) * weights
        return y


def segment_means(x: Tensor, lengths: Tensor) -> Tensor:
    """At each frame of maps (n, channels, time), 0 behind their lengths, the mean of its segment."""
    steps = x.shape[-1]
    behind = -steps % SEGMENT
    # Not reshaped: a number of segments that is to be worked out is ambiguous without items.
    sums = torch.unflatten(F.pad(x, (0, behind)), -1, (-1, SEGMENT)).sum(-1)
    heard = torch.unflatten(inside(lengths, steps + behind), -1, (-1, SEGMENT))
    means = sums / heard.sum(-1).clamp(min=1)[:, None]
    return means.repeat_interleave(SEGMENT, dim=-1)[..., :steps]


class _Transit(nn.Module):
    """Half of the channels, after a dense block."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.nonlinear = _norm(channels)
        self.linear = nn.Conv1d(channels, channels // 2, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.linear(self.nonlinear(x))
        return y


class _Last(nn.Module):
    """Vectors (n, inputs) to normalised embeddings (n, dimension)."""

    def __init__(self, inputs: int, dimension: int) -> None:
        super().__init__()
        self.linear = nn.Conv1d(inputs, dimension, 1, bias=False)
        self.nonlinear = nn.Sequential(OrderedDict(batchnorm=nn.BatchNorm1d(dimension, affine=False)))

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.nonlinear(self.linear(x[..., None])[..., 0])
        return y


def _norm(channels: int) -> nn.Sequential:
    return nn.Sequential(OrderedDict(batchnorm=nn.BatchNorm1d(channels), relu=nn.ReLU()))

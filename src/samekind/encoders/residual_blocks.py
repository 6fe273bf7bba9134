"""The blocks of residual networks.

He et al., "Deep Residual Learning for Image Recognition", CVPR 2016, and "Identity Mappings in Deep Residual
Networks", ECCV 2016; Lee et al., "Meta-Learning with Differentiable Convex Optimization", CVPR 2019.
"""

from collections.abc import Callable, Iterator, Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from samekind.encoders.stages import Stage


class BasicBlock(nn.Module):
    """Two 3x3 convolutions around a shortcut; the shortcut is projected where the shape changes."""

    def __init__(self, inputs: int, width: int, *, stride: int) -> None:
        super().__init__()
        self.conv1 = _convolution(inputs, width, 3, stride=stride)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = _convolution(width, width, 3)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = _projection(inputs, width, stride=stride)

    def forward(self, x: Tensor) -> Tensor:
        inner = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(inner)) + self.downsample(x))


class Bottleneck(nn.Module):
    """A 3x3 convolution between two of 1x1 that narrow and widen; gives four times ``width`` channels.

    The stride is that of the 3x3 convolution, as in the published weights (the paper has it in the first).
    """

    def __init__(self, inputs: int, width: int, *, stride: int) -> None:
        super().__init__()
        self.conv1 = _convolution(inputs, width, 1)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = _convolution(width, width, 3, stride=stride)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = _convolution(width, 4 * width, 1)
        self.bn3 = nn.BatchNorm2d(4 * width)
        self.downsample = _projection(inputs, 4 * width, stride=stride)

    def forward(self, x: Tensor) -> Tensor:
        inner = F.relu(self.bn1(self.conv1(x)))
        inner = F.relu(self.bn2(self.conv2(inner)))
        return F.relu(self.bn3(self.conv3(inner)) + self.downsample(x))


class PreActivationBlock(nn.Module):
    """Two 3x3 convolutions, each after its batch normalisation and ReLU; nothing follows the sum.

    Where the shape changes the shortcut is a 1x1 convolution of the activated input, else the input as it
    is. Dropout, if any, lies between the convolutions.
    """

    def __init__(self, inputs: int, outputs: int, *, stride: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.bn1 = nn.BatchNorm2d(inputs)
        self.conv1 = _convolution(inputs, outputs, 3, stride=stride)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.dropout = nn.Dropout(dropout)
        self.conv2 = _convolution(outputs, outputs, 3)
        self.projected = stride != 1 or inputs != outputs
        self.shortcut = _convolution(inputs, outputs, 1, stride=stride) if self.projected else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        active = F.relu(self.bn1(x))
        inner = self.dropout(F.relu(self.bn2(self.conv1(active))))
        summed: Tensor = self.conv2(inner) + self.shortcut(active if self.projected else x)
        return summed


class LeakyBlock(nn.Module):
    """Three 3x3 convolutions, a projected shortcut, leaky ReLUs of slope 0.1; pooling halves the side."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv1 = _convolution(inputs, outputs, 3)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = _convolution(outputs, outputs, 3)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.conv3 = _convolution(outputs, outputs, 3)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.downsample = nn.Sequential(_convolution(inputs, outputs, 1), nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        inner = F.leaky_relu(self.bn1(self.conv1(x)), 0.1)
        inner = F.leaky_relu(self.bn2(self.conv2(inner)), 0.1)
        summed = self.bn3(self.conv3(inner)) + self.downsample(x)
        return F.max_pool2d(F.leaky_relu(summed, 0.1), 2)


def layers(
    block: Callable[..., nn.Module],
    inputs: int,
    widths: Sequence[int],
    depths: Sequence[int],
    *,
    expansion: int = 1,
) -> Iterator[Stage]:
    """The stages layer1, layer2, …: for each width a row of so many blocks, which give ``expansion`` times
    as many channels. Every layer but the first halves the side, in its first block.
    """
    for place, (width, depth) in enumerate(zip(widths, depths, strict=True), start=1):
        outputs = expansion * width
        first = block(inputs, width, stride=1 if place == 1 else 2)
        row = nn.Sequential(first, *(block(outputs, width, stride=1) for _ in range(depth - 1)))
        yield Stage(f"layer{place}", outputs, {f"layer{place}": row})
        inputs = outputs


def _convolution(inputs: int, outputs: int, kernel: int, *, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, kernel, stride=stride, padding=kernel // 2, bias=False)


def _projection(inputs: int, outputs: int, *, stride: int) -> nn.Module:
    if stride == 1 and inputs == outputs:
        return nn.Identity()
    return nn.Sequential(_convolution(inputs, outputs, 1, stride=stride), nn.BatchNorm2d(outputs))

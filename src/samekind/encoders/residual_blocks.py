"""The blocks residual networks are built of.

He et al., "Deep Residual Learning for Image Recognition", CVPR 2016, and "Identity Mappings in Deep Residual
Networks", ECCV 2016.
"""

from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn


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


def in_a_row(
    block: Callable[..., nn.Module], inputs: int, width: int, *, outputs: int, count: int, stride: int
) -> nn.Sequential:
    """``count`` blocks of one width, each giving ``outputs`` channels; the first has the stride, the
    others 1.

    >>> import torch
    >>> in_a_row(Bottleneck, 64, 64, outputs=256, count=3, stride=1)(torch.rand(1, 64, 8, 8)).shape
    torch.Size([1, 256, 8, 8])
    """
    first = block(inputs, width, stride=stride)
    return nn.Sequential(first, *(block(outputs, width, stride=1) for _ in range(count - 1)))


def start_convolutions(network: nn.Module) -> None:
    """Fresh weights with variance 2 / (outputs x kernel area): He et al., "Delving Deep into Rectifiers"."""
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")


def _convolution(inputs: int, outputs: int, kernel: int, *, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, kernel, stride=stride, padding=kernel // 2, bias=False)


def _projection(inputs: int, outputs: int, *, stride: int) -> nn.Module:
    if stride == 1 and inputs == outputs:
        return nn.Identity()
    return nn.Sequential(_convolution(inputs, outputs, 1, stride=stride), nn.BatchNorm2d(outputs))

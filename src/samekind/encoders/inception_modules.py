"""The five modules of Inception-v3, each a few branches in parallel.

Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", CVPR 2016. Layers have
torchvision's names, so its weights fit.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.encoders.convolution_unit import ConvolutionUnit


def unit(
    inputs: int,
    outputs: int,
    kernel: int | tuple[int, int],
    *,
    stride: int = 1,
    padding: int | tuple[int, int] = 0,
) -> ConvolutionUnit:
    """A convolution of this network: without bias, and with its epsilon."""
    return ConvolutionUnit(inputs, outputs, kernel, stride=stride, padding=padding, epsilon=1e-3)


class InceptionA(nn.Module):
    """1x1, 5x5, twice 3x3 and average pooling; gives 224 channels + ``pooled``. At 35x35."""

    def __init__(self, inputs: int, *, pooled: int) -> None:
        super().__init__()
        self.branch1x1 = unit(inputs, 64, 1)
        self.branch5x5_1 = unit(inputs, 48, 1)
        self.branch5x5_2 = unit(48, 64, 5, padding=2)
        self.branch3x3dbl_1 = unit(inputs, 64, 1)
        self.branch3x3dbl_2 = unit(64, 96, 3, padding=1)
        self.branch3x3dbl_3 = unit(96, 96, 3, padding=1)
        self.branch_pool = unit(inputs, pooled, 1)

    def forward(self, x: Tensor) -> Tensor:
        five = self.branch5x5_2(self.branch5x5_1(x))
        double = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return torch.cat([self.branch1x1(x), five, double, self.branch_pool(_average(x))], dim=1)


class InceptionB(nn.Module):
    """3x3, twice 3x3 and max pooling, each halving the side; gives 480 channels + those of its input."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.branch3x3 = unit(inputs, 384, 3, stride=2)
        self.branch3x3dbl_1 = unit(inputs, 64, 1)
        self.branch3x3dbl_2 = unit(64, 96, 3, padding=1)
        self.branch3x3dbl_3 = unit(96, 96, 3, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        double = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return torch.cat([self.branch3x3(x), double, F.max_pool2d(x, 3, stride=2)], dim=1)


class InceptionC(nn.Module):
    """1x1, 7x7 and twice 7x7 taken apart into rows and columns, and average pooling; gives 768. At 17x17."""

    def __init__(self, inputs: int, *, narrow: int) -> None:
        super().__init__()
        self.branch1x1 = unit(inputs, 192, 1)
        self.branch7x7_1 = unit(inputs, narrow, 1)
        self.branch7x7_2 = unit(narrow, narrow, (1, 7), padding=(0, 3))
        self.branch7x7_3 = unit(narrow, 192, (7, 1), padding=(3, 0))
        self.branch7x7dbl_1 = unit(inputs, narrow, 1)
        self.branch7x7dbl_2 = unit(narrow, narrow, (7, 1), padding=(3, 0))
        self.branch7x7dbl_3 = unit(narrow, narrow, (1, 7), padding=(0, 3))
        self.branch7x7dbl_4 = unit(narrow, narrow, (7, 1), padding=(3, 0))
        self.branch7x7dbl_5 = unit(narrow, 192, (1, 7), padding=(0, 3))
        self.branch_pool = unit(inputs, 192, 1)

    def forward(self, x: Tensor) -> Tensor:
        seven = self.branch7x7_3(self.branch7x7_2(self.branch7x7_1(x)))
        double = self.branch7x7dbl_3(self.branch7x7dbl_2(self.branch7x7dbl_1(x)))
        double = self.branch7x7dbl_5(self.branch7x7dbl_4(double))
        return torch.cat([self.branch1x1(x), seven, double, self.branch_pool(_average(x))], dim=1)


class InceptionD(nn.Module):
    """3x3, 7x7 then 3x3, and max pooling, each halving the side; gives 512 channels + those of its input."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.branch3x3_1 = unit(inputs, 192, 1)
        self.branch3x3_2 = unit(192, 320, 3, stride=2)
        self.branch7x7x3_1 = unit(inputs, 192, 1)
        self.branch7x7x3_2 = unit(192, 192, (1, 7), padding=(0, 3))
        self.branch7x7x3_3 = unit(192, 192, (7, 1), padding=(3, 0))
        self.branch7x7x3_4 = unit(192, 192, 3, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        three = self.branch3x3_2(self.branch3x3_1(x))
        seven = self.branch7x7x3_3(self.branch7x7x3_2(self.branch7x7x3_1(x)))
        return torch.cat([three, self.branch7x7x3_4(seven), F.max_pool2d(x, 3, stride=2)], dim=1)


class InceptionE(nn.Module):
    """1x1, 3x3 as a row beside a column, the same after a 3x3, and average pooling; gives 2048. At 8x8."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.branch1x1 = unit(inputs, 320, 1)
        self.branch3x3_1 = unit(inputs, 384, 1)
        self.branch3x3_2a = unit(384, 384, (1, 3), padding=(0, 1))
        self.branch3x3_2b = unit(384, 384, (3, 1), padding=(1, 0))
        self.branch3x3dbl_1 = unit(inputs, 448, 1)
        self.branch3x3dbl_2 = unit(448, 384, 3, padding=1)
        self.branch3x3dbl_3a = unit(384, 384, (1, 3), padding=(0, 1))
        self.branch3x3dbl_3b = unit(384, 384, (3, 1), padding=(1, 0))
        self.branch_pool = unit(inputs, 192, 1)

    def forward(self, x: Tensor) -> Tensor:
        three = self.branch3x3_1(x)
        double = self.branch3x3dbl_2(self.branch3x3dbl_1(x))
        branches = [
            self.branch1x1(x),
            self.branch3x3_2a(three),
            self.branch3x3_2b(three),
            self.branch3x3dbl_3a(double),
            self.branch3x3dbl_3b(double),
            self.branch_pool(_average(x)),
        ]
        return torch.cat(branches, dim=1)


def _average(x: Tensor) -> Tensor:
    return F.avg_pool2d(x, 3, stride=1, padding=1)

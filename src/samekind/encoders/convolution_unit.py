"""The unit that Inception networks are built of."""

import torch.nn.functional as F
from torch import Tensor, nn


class ConvolutionUnit(nn.Module):
    """Convolution, batch normalisation, ReLU; a kernel may be (height, width), and so may its padding."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int | tuple[int, int],
        *,
        stride: int = 1,
        padding: int | tuple[int, int] = 0,
        bias: bool = False,
        epsilon: float = 1e-5,
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride=stride, padding=padding, bias=bias)
        self.bn = nn.BatchNorm2d(outputs, eps=epsilon)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.bn(self.conv(x)))

"""BN-Inception, the network of many papers on retrieval.

Ioffe and Szegedy, "Batch Normalization: Accelerating Deep Network Training by Reducing Internal Covariate
Shift", ICML 2015.
"""

from collections.abc import Iterator
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.encoders.convolution_unit import ConvolutionUnit
from samekind.encoders.stages import Stage, constructor, image_network

SMALLEST = 7  # with fewer pixels the stem's map would be empty

# Channels: 1x1 | before and after the 3x3 | before and after the two 3x3 | pooling, and after its 1x1.
# No 1x1 (0) means a module that halves the side; its pooled input is passed on as it is.
MODULES: dict[str, tuple[int, tuple[int, int], tuple[int, int], Literal["average", "max"], int]] = {
    "inception_3a": (64, (64, 64), (64, 96), "average", 32),
    "inception_3b": (64, (64, 96), (64, 96), "average", 64),
    "inception_3c": (0, (128, 160), (64, 96), "max", 0),
    "inception_4a": (224, (64, 96), (96, 128), "average", 128),
    "inception_4b": (192, (96, 128), (96, 128), "average", 128),
    "inception_4c": (160, (128, 160), (128, 160), "average", 128),
    "inception_4d": (96, (128, 192), (160, 192), "average", 128),
    "inception_4e": (0, (128, 192), (192, 256), "max", 0),
    "inception_5a": (352, (192, 320), (160, 224), "average", 128),
    "inception_5b": (352, (192, 320), (192, 224), "max", 128),
}


class InceptionModule(nn.Module):
    """Four branches side by side, their channels concatenated: 1x1, 3x3, twice 3x3, and pooling.

    With ``one_by_one`` 0 there is no 1x1 branch, every other halves the side, and pooling keeps its channels.
    """

    def __init__(
        self,
        inputs: int,
        *,
        one_by_one: int,
        three_by_three: tuple[int, int],
        two_threes: tuple[int, int],
        pool: Literal["average", "max"],
        projection: int,
    ) -> None:
        super().__init__()
        self.pool = pool
        self.stride = 1 if one_by_one else 2
        self.outputs = one_by_one + three_by_three[1] + two_threes[1] + (projection or inputs)
        self.one_by_one = ConvolutionUnit(inputs, one_by_one, 1, bias=True) if one_by_one else None
        self.three_by_three = nn.Sequential(
            ConvolutionUnit(inputs, three_by_three[0], 1, bias=True),
            ConvolutionUnit(*three_by_three, 3, stride=self.stride, padding=1, bias=True),
        )
        self.two_threes = nn.Sequential(
            ConvolutionUnit(inputs, two_threes[0], 1, bias=True),
            ConvolutionUnit(*two_threes, 3, padding=1, bias=True),
            ConvolutionUnit(two_threes[1], two_threes[1], 3, stride=self.stride, padding=1, bias=True),
        )
        self.projection = ConvolutionUnit(inputs, projection, 1, bias=True) if projection else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        branches = [self.three_by_three(x), self.two_threes(x), self.projection(self._pooled(x))]
        return torch.cat(branches if self.one_by_one is None else [self.one_by_one(x), *branches], dim=1)

    def _pooled(self, x: Tensor) -> Tensor:
        if self.pool == "average":
            return F.avg_pool2d(x, 3, stride=1, padding=1)
        if self.stride == 1:
            return F.max_pool2d(x, 3, stride=1, padding=1)
        # An odd side is padded, or pooling would give one row or column less than a convolution.
        height, width = x.shape[2:]
        return F.max_pool2d(
            F.pad(x, (0, width % 2, 0, height % 2), value=-torch.inf), 3, stride=2, ceil_mode=True
        )


def _stages(channels: int) -> Iterator[Stage]:
    stem = nn.Sequential(
        ConvolutionUnit(channels, 64, 7, stride=2, padding=3, bias=True),
        nn.MaxPool2d(3, stride=2, ceil_mode=True),
        ConvolutionUnit(64, 64, 1, bias=True),
        ConvolutionUnit(64, 192, 3, padding=1, bias=True),
        nn.MaxPool2d(3, stride=2, ceil_mode=True),
    )
    yield Stage("stem", 192, {"stem": stem})
    inputs = 192
    for name, (one_by_one, three_by_three, two_threes, pool, projection) in MODULES.items():
        module = InceptionModule(
            inputs,
            one_by_one=one_by_one,
            three_by_three=three_by_three,
            two_threes=two_threes,
            pool=pool,
            projection=projection,
        )
        yield Stage(name, module.outputs, {name: module})
        inputs = module.outputs


@image_network
class BNInception(nn.Module):
    """Images (n, channels, height, width), meant for 224 pixels, to embeddings (n, dimension).

    The maps are called stem, inception_3a to 3c, 4a to 4e, 5a and 5b; at 224 pixels 4d is (n, 608, 14,
    14), 4e (n, 1056, 7, 7), 5a and 5b (n, 1024, 7, 7). With ``dimension`` None or 1024 the embeddings are
    the pooled features themselves, none of them negative; with any other they are a linear map of these.
    The other settings are those of `ResNet18`.
    """

    dimension: int
    __init__ = constructor(_stages, smallest=SMALLEST)

"""ResNet-18 with a stem for small or for large images.

He et al., "Deep Residual Learning for Image Recognition", CVPR 2016.
"""

from typing import Literal

import torch.nn.functional as F
from torch import Tensor, nn

from samekind.encoders.images import expect_images
from samekind.errors import SettingError


class ResNet18(nn.Module):
    """Images (n, channels, height, width) of any size to embeddings (n, dimension).

    The ``"cifar"`` stem keeps the size (3x3 convolution), for images of about 32 pixels; ``"imagenet"``
    divides it by four (7x7 convolution and pooling), for about 224. With dimension 512 the embeddings
    are the pooled features themselves, none of them negative; with any other they are a linear map of
    these. Layers have torchvision's names, so its weights fit.
    """

    def __init__(
        self, *, channels: int = 3, stem: Literal["cifar", "imagenet"] = "cifar", dimension: int = 512
    ) -> None:
        super().__init__()
        if stem not in ("cifar", "imagenet"):
            raise SettingError(f'the stem of ResNet18 is "cifar" or "imagenet"; got "{stem}"')
        if channels < 1 or dimension < 1:
            raise SettingError(f"channels and dimension must be at least 1; got {channels} and {dimension}")
        self.channels = channels
        self.stem = stem
        self.dimension = dimension
        large = stem == "imagenet"
        self.conv1 = nn.Conv2d(
            channels,
            64,
            7 if large else 3,
            stride=2 if large else 1,
            padding=3 if large else 1,
            bias=False,
        )
        self.bn1 = nn.BatchNorm2d(64)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1) if large else nn.Identity()
        self.layer1 = nn.Sequential(Block(64, 64, stride=1), Block(64, 64, stride=1))
        self.layer2 = nn.Sequential(Block(64, 128, stride=2), Block(128, 128, stride=1))
        self.layer3 = nn.Sequential(Block(128, 256, stride=2), Block(256, 256, stride=1))
        self.layer4 = nn.Sequential(Block(256, 512, stride=2), Block(512, 512, stride=1))
        self.embedding = nn.Identity() if dimension == 512 else nn.Linear(512, dimension)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def features(self, x: Tensor) -> Tensor:
        """The last map averaged over its places: (n, 512)."""
        expect_images(x, channels=self.channels)
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return x.mean((2, 3))

    def forward(self, x: Tensor) -> Tensor:
        embeddings: Tensor = self.embedding(self.features(x))
        return embeddings


class Block(nn.Module):
    """Two 3x3 convolutions around a shortcut; the shortcut is projected where the shape changes."""

    def __init__(self, inputs: int, outputs: int, *, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: Tensor) -> Tensor:
        inner = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(inner)) + self.downsample(x))

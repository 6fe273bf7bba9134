"""A small ResNet on log-mel features, with statistics over time.

After He et al., "Deep Residual Learning for Image Recognition", CVPR 2016, on spectrograms as Chung et al.,
"VoxCeleb2: Deep Speaker Recognition", Interspeech 2018, use it.
"""

from collections.abc import Sequence
from typing import Literal

from torch import Tensor, nn

from samekind.encoders.stages import embedded
from samekind.encoders.time_pooling import expect_frames, masked, pooling_named
from samekind.errors import SettingError


class SoundResNet(nn.Module):
    """Features (n, bands, frames), padded with NaN, to embeddings (n, dimension). Made for log-mel features.

    Four stages of ``depths`` blocks; each but the first halves bands and time, and doubles the ``width``
    channels of the first. ``pooling`` is "statistics", "sample" (the deviation divided by n - 1) or
    "attentive". With depths (3, 4, 6, 3) it is a ResNet-34.
    """

    came_later = ("depths",)

    def __init__(
        self,
        *,
        bands: int = 80,
        dimension: int = 256,
        width: int = 32,
        pooling: Literal["statistics", "sample", "attentive"] = "statistics",
        depths: Sequence[int] = (2, 2, 2, 2),
    ) -> None:
        super().__init__()
        if bands < 8 or min(dimension, width) < 1:
            raise SettingError(
                f"expected at least 8 bands, dimension and width from 1 up; got {bands}, {dimension}, {width}"
            )
        if len(depths) != 4 or min(depths) < 1:
            raise SettingError(f"depths: expected blocks of each of the four stages, got {list(depths)}")
        self.bands = bands
        self.dimension = dimension
        self.width = width
        self.pooling = pooling
        self.depths = tuple(depths)
        self.stem = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()
        )
        blocks, before, height = [], width, bands
        for stage, count in enumerate(depths):
            for block in range(count):
                stride = 2 if stage and not block else 1
                blocks.append(_Block(before, width * 2**stage, stride))
                before, height = width * 2**stage, -(-height // stride)
        self.blocks = nn.ModuleList(blocks)
        self.pool = pooling_named(pooling, before * height)
        self.embedding = nn.Linear(2 * before * height, dimension)

    @property
    def coefficients(self) -> int:
        return self.bands

    def features(self, x: Tensor) -> Tensor:
        """Mean and deviation over time of every channel in every band."""
        x, lengths = expect_frames(x, self.bands)
        x = masked(self.stem(x[:, None]), lengths)
        for block in self.blocks:
            x, lengths = block(x, lengths)
        features: Tensor = self.pool(x.flatten(1, 2), lengths)
        return features

    forward = embedded


class _Block(nn.Module):
    """Two convolutions and what goes around them; the stride is that of the first."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.stride = stride
        self.first = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
        )
        self.second = nn.Sequential(
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs)
        )
        self.around = (
            nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs))
            if stride > 1 or inputs != outputs
            else nn.Identity()
        )

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        after = (lengths + self.stride - 1) // self.stride
        y = self.second(masked(self.first(x), after)) + self.around(x)
        return masked(y.relu(), after), after

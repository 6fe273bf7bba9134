"""ECAPA-TDNN: residual blocks over time that weigh their channels, and attentive pooling.

Desplanques, Thienpondt and Demuynck, "ECAPA-TDNN: Emphasized Channel Attention, Propagation and Aggregation
in TDNN Based Speaker Verification", Interspeech 2020.
"""

from typing import Any, Literal

import torch
from torch import Tensor, nn

from samekind.acoustics.padding import mirrored
from samekind.encoders.stages import embedded
from samekind.encoders.time_pooling import AttentivePooling, expect_frames, masked, statistics
from samekind.errors import SettingError

#: The dilation of the three blocks, into how many parts each divides its channels, and the bottleneck.
DILATIONS, PARTS, BOTTLENECK = (2, 3, 4), 8, 128


class ECAPA(nn.Module):
    """Features (n, bands, frames), padded with NaN, to embeddings (n, dimension). Made for log-mel features.

    ``width`` channels in the blocks (1024 in the large network of the paper), ``last_width`` before the
    pooling. ``variant`` "speechbrain" is the network as SpeechBrain has it: sounds are mirrored at their ends
    instead of followed by zeros, and the layer before the pooling is normalised.
    """

    came_later = ("variant",)

    def __init__(
        self,
        *,
        bands: int = 80,
        dimension: int = 192,
        width: int = 512,
        last_width: int = 1536,
        variant: Literal["paper", "speechbrain"] = "paper",
    ) -> None:
        super().__init__()
        if variant not in ("paper", "speechbrain"):
            raise SettingError(f'variant: expected "paper" or "speechbrain", got "{variant}"')
        if min(bands, dimension, last_width) < 1 or width < PARTS or width % PARTS:
            raise SettingError(
                f"bands, dimension and last_width must be at least 1, and width a multiple of {PARTS}; "
                f"got {bands}, {dimension}, {last_width} and {width}"
            )
        self.bands = bands
        self.dimension = dimension
        self.width = width
        self.last_width = last_width
        self.variant = variant
        mirror = variant == "speechbrain"
        self.first = _unit(bands, width, kernel=5, mirror=mirror)
        self.blocks = nn.ModuleList(_Block(width, dilation, mirror=mirror) for dilation in DILATIONS)
        last = nn.Sequential(nn.Conv1d(len(DILATIONS) * width, last_width, 1), nn.ReLU())
        self.last = last.append(nn.BatchNorm1d(last_width)) if mirror else last
        self.pool = AttentivePooling(channels=last_width)
        self.norm = nn.BatchNorm1d(2 * last_width)
        self.embedding = nn.Linear(2 * last_width, dimension)

    @property
    def coefficients(self) -> int:
        return self.bands

    def features(self, x: Tensor) -> Tensor:
        """The normalised output of the pooling: (n, 2 last_width)."""
        x, lengths = expect_frames(x, self.bands)
        x = masked(_applied(self.first, x, lengths), lengths)
        outputs = []
        for block in self.blocks:
            x = block(x, lengths)
            outputs.append(x)
        pooled = self.pool(self.last(torch.cat(outputs, dim=1)), lengths)
        features: Tensor = self.norm(pooled)
        return features

    forward = embedded


class _Block(nn.Module):
    """A residual block: its channels in parts, each convolved together with the part before it, then all
    channels weighed by their means over the whole sound.
    """

    def __init__(self, width: int, dilation: int, *, mirror: bool) -> None:
        super().__init__()
        part = width // PARTS
        self.before = _unit(width, width)
        self.parts = nn.ModuleList(
            _unit(part, part, kernel=3, dilation=dilation, mirror=mirror) for _ in range(PARTS - 1)
        )
        self.after = _unit(width, width)
        self.weigh = nn.Sequential(
            nn.Linear(width, BOTTLENECK), nn.ReLU(), nn.Linear(BOTTLENECK, width), nn.Sigmoid()
        )

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        first, *others = masked(self.before(x), lengths).chunk(PARTS, dim=1)
        outputs, previous = [first], None
        for part, convolution in zip(others, self.parts, strict=True):
            seen = part if previous is None else part + previous
            previous = masked(_applied(convolution, seen, lengths), lengths)
            outputs.append(previous)
        y = self.after(torch.cat(outputs, dim=1))
        weights = self.weigh(statistics(y, lengths).to(y.dtype)[:, : y.shape[1]])
        return masked(x + y * weights[..., None], lengths)


def _unit(
    inputs: int, outputs: int, *, kernel: int = 1, dilation: int = 1, mirror: bool = False
) -> nn.Sequential:
    """A convolution over time that keeps the number of frames, ReLU and normalisation; with ``mirror`` it
    loses frames that `_applied` adds before.
    """
    reach = 0 if mirror else dilation * (kernel - 1) // 2
    convolution = nn.Conv1d(inputs, outputs, kernel, dilation=dilation, padding=reach)
    return nn.Sequential(convolution, nn.ReLU(), nn.BatchNorm1d(outputs))


def _applied(unit: Any, x: Tensor, lengths: Tensor) -> Tensor:
    """Maps (n, channels, time) through a unit; beyond the ends are zeros, or the sound itself, backwards."""
    convolution = unit[0]
    lost = convolution.dilation[0] * (convolution.kernel_size[0] - 1) - 2 * convolution.padding[0]
    y: Tensor = unit(mirrored(x, lengths, lost // 2) if lost else x)
    return y

"""ECAPA-TDNN: residual blocks over time that weigh their channels, and attentive pooling.

Desplanques, Thienpondt and Demuynck, "ECAPA-TDNN: Emphasized Channel Attention, Propagation and Aggregation
in TDNN Based Speaker Verification", Interspeech 2020.
"""

import torch
from torch import Tensor, nn

from samekind.encoders.stages import embedded
from samekind.encoders.time_pooling import AttentivePooling, expect_frames, masked, statistics
from samekind.errors import SettingError

#: The dilation of the three blocks, into how many parts each divides its channels, and the bottleneck.
DILATIONS, PARTS, BOTTLENECK = (2, 3, 4), 8, 128


class ECAPA(nn.Module):
    """Features (n, bands, frames), padded with NaN, to embeddings (n, dimension). Made for log-mel features.

    ``width`` channels in the blocks (1024 in the large network of the paper), ``last_width`` before the
    pooling.
    """

    def __init__(
        self, *, bands: int = 80, dimension: int = 192, width: int = 512, last_width: int = 1536
    ) -> None:
        super().__init__()
        if min(bands, dimension, last_width) < 1 or width < PARTS or width % PARTS:
            raise SettingError(
                f"bands, dimension and last_width must be at least 1, and width a multiple of {PARTS}; "
                f"got {bands}, {dimension}, {last_width} and {width}"
            )
        self.bands = bands
        self.dimension = dimension
        self.width = width
        self.last_width = last_width
        self.first = _unit(bands, width, kernel=5)
        self.blocks = nn.ModuleList(_Block(width, dilation) for dilation in DILATIONS)
        self.last = nn.Sequential(nn.Conv1d(len(DILATIONS) * width, last_width, 1), nn.ReLU())
        self.pool = AttentivePooling(channels=last_width)
        self.norm = nn.BatchNorm1d(2 * last_width)
        self.embedding = nn.Linear(2 * last_width, dimension)

    @property
    def coefficients(self) -> int:
        """How many numbers a frame has."""
        return self.bands

    def features(self, x: Tensor) -> Tensor:
        """What the pooling gives, normalised: (n, 2 last_width)."""
        x, lengths = expect_frames(x, self.bands)
        x = masked(self.first(x), lengths)
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
    channels weighed by what the whole sound has in them.
    """

    def __init__(self, width: int, dilation: int) -> None:
        super().__init__()
        self.before = _unit(width, width)
        self.parts = nn.ModuleList(
            _unit(width // PARTS, width // PARTS, kernel=3, dilation=dilation) for _ in range(PARTS - 1)
        )
        self.after = _unit(width, width)
        self.weigh = nn.Sequential(
            nn.Linear(width, BOTTLENECK), nn.ReLU(), nn.Linear(BOTTLENECK, width), nn.Sigmoid()
        )

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        first, *others = masked(self.before(x), lengths).chunk(PARTS, dim=1)
        outputs, previous = [first], None
        for part, convolution in zip(others, self.parts, strict=True):
            previous = masked(convolution(part if previous is None else part + previous), lengths)
            outputs.append(previous)
        y = self.after(torch.cat(outputs, dim=1))
        weights = self.weigh(statistics(y, lengths).to(y.dtype)[:, : y.shape[1]])
        return masked(x + y * weights[..., None], lengths)


def _unit(inputs: int, outputs: int, *, kernel: int = 1, dilation: int = 1) -> nn.Sequential:
    """A convolution over time that keeps the number of frames, ReLU and normalisation."""
    padding = dilation * (kernel - 1) // 2
    convolution = nn.Conv1d(inputs, outputs, kernel, dilation=dilation, padding=padding)
    return nn.Sequential(convolution, nn.ReLU(), nn.BatchNorm1d(outputs))

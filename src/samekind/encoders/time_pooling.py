"""From frames to one vector: mean and deviation over time, of all frames alike or weighted by attention.

Snyder et al., "X-Vectors: Robust DNN Embeddings for Speaker Recognition", ICASSP 2018, and Okabe et al.,
"Attentive Statistics Pooling for Deep Speaker Embedding", Interspeech 2018. What lies behind the length of a
sound has no weight.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.acoustics import lengths_of
from samekind.acoustics.padding import inside
from samekind.errors import DataError
from samekind.tracing import exporting

#: Keeps the gradient of a deviation finite where it is 0.
LEAST_VARIANCE = 1e-8


def expect_frames(x: Tensor, coefficients: int) -> tuple[Tensor, Tensor]:
    """Features (n, coefficients, frames) with 0 in place of padding, and their lengths (n,). Raises DataError
    for another shape, or for a sound without a frame.
    """
    if x.dim() != 3 or x.shape[1] != coefficients or not x.is_floating_point():
        raise DataError(
            f"the encoder takes features of sounds, floats (n, {coefficients}, frames); "
            f"got {tuple(x.shape)} of {x.dtype}"
        )
    lengths = lengths_of(x)
    if not exporting() and (not x.shape[-1] or (len(x) and int(lengths.min()) < 1)):
        raise DataError("a sound has no frame; expected at least one")
    return x.nan_to_num(0.0), lengths


def masked(x: Tensor, lengths: Tensor) -> Tensor:
    """Maps (n, …, time) with 0 behind their lengths (n,), as if each stood alone before a convolution."""
    mask = inside(lengths, x.shape[-1])
    return x * mask.reshape(x.shape[0], *[1] * (x.dim() - 2), x.shape[-1])


def statistics(
    x: Tensor,
    lengths: Tensor,
    weights: Tensor | None = None,
    *,
    sample: bool = False,
    least: float = LEAST_VARIANCE,
) -> Tensor:
    """Mean and deviation over time of maps (n, channels, time): (n, 2 channels). ``weights``, in the shape of
    the maps, sum to 1 over time; by default all frames count alike. The deviation is divided by n, or with
    ``sample`` by n - 1; ``least`` is added to its square.
    """
    if weights is None:
        mask = inside(lengths, x.shape[-1])[:, None]
        weights = mask / lengths.clamp(min=1)[:, None, None]
    x = x.float()
    mean = (x * weights).sum(-1)
    variance = ((x - mean[..., None]).square() * weights).sum(-1)
    if sample:
        variance = variance * (lengths / (lengths - 1).clamp(min=1))[:, None]
    return torch.cat([mean, (variance + least).sqrt()], dim=1)


class StatisticsPooling(nn.Module):
    """Maps (n, channels, time) and lengths (n,) to mean and deviation, (n, 2 channels), as `statistics`."""

    def __init__(self, *, sample: bool = False, least: float = LEAST_VARIANCE) -> None:
        super().__init__()
        self.sample, self.least = sample, least

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        return statistics(x, lengths, sample=self.sample, least=self.least)


class AttentivePooling(nn.Module):
    """The same, with weights for each channel at each time from a small network of ``hidden`` units.

    With ``context`` it also sees mean and deviation of the whole sound, as in ECAPA-TDNN.
    """

    def __init__(self, *, channels: int, hidden: int = 128, context: bool = True) -> None:
        super().__init__()
        self.context = context
        self.attention = nn.Sequential(
            nn.Conv1d(3 * channels if context else channels, hidden, 1),
            nn.ReLU(),
            nn.BatchNorm1d(hidden),
            nn.Tanh(),
            nn.Conv1d(hidden, channels, 1),
        )

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        seen = self._seen(x, lengths)
        for layer in list(self.attention)[1:]:
            seen = layer(seen)
        mask = inside(lengths, x.shape[-1])[:, None]
        weights = seen.float().masked_fill(~mask, -torch.inf).softmax(-1)
        return statistics(x, lengths, weights)

    def _seen(self, x: Tensor, lengths: Tensor) -> Tensor:
        """The first layer: of each frame and, once for all of them, of the whole sound."""
        first: Any = self.attention[0]
        channels = x.shape[1]
        if not self.context:
            y: Tensor = first(x)
            return y
        whole = statistics(x, lengths).to(x.dtype)
        offset = F.linear(whole, first.weight[:, channels:, 0], first.bias)
        return F.conv1d(x, first.weight[:, :channels]) + offset[..., None]


def pooling_named(name: str, channels: int) -> nn.Module:
    """The pooling by its name: "statistics", "sample" (divided by n - 1) or "attentive"."""
    if name == "attentive":
        return AttentivePooling(channels=channels)
    return StatisticsPooling(sample=True, least=1e-7) if name == "sample" else StatisticsPooling()

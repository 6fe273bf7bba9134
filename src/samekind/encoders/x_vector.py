"""The x-vector network: a time-delay network on frames, statistics over time, and one layer.

Snyder et al., "X-Vectors: Robust DNN Embeddings for Speaker Recognition", ICASSP 2018.
"""

from typing import Literal, NamedTuple

from torch import Tensor, nn

from samekind.acoustics import repeated
from samekind.encoders.stages import embedded
from samekind.encoders.time_pooling import expect_frames, masked, pooling_named
from samekind.errors import SettingError


class _Layer(NamedTuple):
    """A convolution over time, and how many frames its input has fewer (or more) than its output."""

    kernel: int
    dilation: int = 1
    padding: int = 0

    @property
    def lost(self) -> int:
        return self.dilation * (self.kernel - 1) - 2 * self.padding


LAYERS = {
    "kaldi": (_Layer(5), _Layer(3, 2), _Layer(3, 3), _Layer(1), _Layer(1)),
    "authors": (_Layer(5, 1, 2), _Layer(5, 1, 2), _Layer(5, 1, 3), _Layer(7), _Layer(1)),
}


class XVector(nn.Module):
    """Features (n, coefficients, frames), padded with NaN, to embeddings (n, dimension).

    ``variant`` "kaldi" has the contexts of Kaldi's recipe, {-2 … 2}, {-2, 0, 2}, {-3, 0, 3}, {0}, {0}, a ReLU
    before the normalisation, and a linear last layer. "authors" is the network that Monteiro et al. trained
    for learned similarities: kernels of 5, 5, 5, 7 and 1 frames without dilation, a ReLU after the
    normalisation, and both after the last layer too. The layers have ``width`` channels, the last before the
    pooling ``last_width``. ``pooling`` is "statistics" or "attentive".
    """

    def __init__(
        self,
        *,
        coefficients: int = 30,
        dimension: int = 512,
        width: int = 512,
        last_width: int = 1500,
        variant: Literal["kaldi", "authors"] = "kaldi",
        pooling: Literal["statistics", "attentive"] = "statistics",
    ) -> None:
        super().__init__()
        if min(coefficients, dimension, width, last_width) < 1:
            raise SettingError(
                "coefficients, dimension, width and last_width must be at least 1; "
                f"got {coefficients}, {dimension}, {width} and {last_width}"
            )
        self.coefficients = coefficients
        self.dimension = dimension
        self.width = width
        self.last_width = last_width
        self.variant = variant
        self.pooling = pooling
        before, layers = coefficients, []
        for place, layer in enumerate(LAYERS[variant]):
            after = last_width if place == 4 else width
            convolution = nn.Conv1d(
                before, after, layer.kernel, dilation=layer.dilation, padding=layer.padding
            )
            layers.append(nn.Sequential(convolution, *_activated(after, variant)))
            before = after
        self.layers = nn.ModuleList(layers)
        self.pool = pooling_named(pooling, last_width)
        last = nn.Linear(2 * last_width, dimension)
        self.embedding = last if variant == "kaldi" else nn.Sequential(last, *_activated(dimension, variant))

    def features(self, x: Tensor) -> Tensor:
        """Mean and deviation over time of the last layer on frames, (n, 2 last_width)."""
        x, lengths = expect_frames(x, self.coefficients)
        x, lengths = repeated(x, lengths, 1 + sum(max(0, layer.lost) for layer in LAYERS[self.variant]))
        for module, layer in zip(self.layers, LAYERS[self.variant], strict=True):
            x, lengths = module(masked(x, lengths)), lengths - layer.lost
        features: Tensor = self.pool(x, lengths)
        return features

    forward = embedded


def _activated(width: int, variant: str) -> tuple[nn.Module, nn.Module]:
    """Normalisation and ReLU in the order of a variant."""
    norm, relu = nn.BatchNorm1d(width), nn.ReLU()
    return (relu, norm) if variant == "kaldi" else (norm, relu)

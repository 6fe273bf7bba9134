"""The mel scale: triangular filters of a power spectrum, and the cosine transform of their logarithms."""

import math

import torch
from torch import Tensor


def mel_filters(*, bins: int, size: int, rate: int, low: float, high: float) -> Tensor:
    """Filters (size / 2 + 1, bins) for the power spectrum of ``size`` samples: triangles that are equally
    wide on the mel scale, from ``low`` to ``high`` Hz. As in Kaldi the last frequency has no weight.
    """
    frequencies = torch.arange(size // 2 + 1, dtype=torch.float64) * rate / size
    edges = torch.linspace(_mel(low), _mel(high), bins + 2, dtype=torch.float64)
    mels = 1127 * torch.log1p(frequencies / 700)[:, None]
    left, centre, right = edges[:-2], edges[1:-1], edges[2:]
    filters = torch.minimum((mels - left) / (centre - left), (right - mels) / (right - centre)).clamp_(min=0)
    filters[-1] = 0
    return filters.float()


def cosine_transform(*, bins: int, coefficients: int, lifter: float) -> Tensor:
    """The matrix (bins, coefficients) from logarithms of mel filters to cepstra: a DCT-II, each coefficient
    then weighted by the ``lifter``, which lifts the higher ones.
    """
    order = torch.arange(coefficients, dtype=torch.float64)
    places = torch.arange(bins, dtype=torch.float64) + 0.5
    matrix = torch.cos(math.pi / bins * places[:, None] * order) * math.sqrt(2 / bins)
    matrix[:, 0] = math.sqrt(1 / bins)
    lifted = 1 + lifter / 2 * torch.sin(math.pi * order / lifter) if lifter else torch.ones(coefficients)
    return (matrix * lifted).float()


def _mel(frequency: float) -> float:
    return 1127 * math.log1p(frequency / 700)

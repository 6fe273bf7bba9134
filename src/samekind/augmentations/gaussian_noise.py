"""Noise on vectors."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from samekind.augmentations.draws import chosen, per_item
from samekind.augmentations.limits import expect_vectors, expect_within
from samekind.errors import DataError


class GaussianNoise:
    """With ``probability``, normal noise of standard deviation ``deviation`` on every feature of a vector.

    ``spreads`` (d,) are the standard deviations of the features, in which ``deviation`` is then measured; a
    run fills them in from the training items. Without them they count as 1.
    """

    def __init__(
        self, *, deviation: float = 0.1, probability: float = 1.0, spreads: Sequence[float] | None = None
    ) -> None:
        expect_within("deviation", deviation, 0, math.inf)
        expect_within("probability", probability, 0, 1)
        self.deviation = deviation
        self.probability = probability
        self.spreads = spreads

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_vectors(x)
        happens = chosen(len(x), self.probability, generator=generator)
        noise = self.deviation * torch.randn(x.shape, dtype=torch.float64, generator=generator)
        if self.spreads is not None:
            noise = noise * per_feature(self.spreads, x)
        return x + noise.to(x.device, x.dtype, non_blocking=True) * per_item(happens, x)


def per_feature(values: Sequence[float], x: Tensor) -> Tensor:
    """A number for each feature of ``x`` (n, d) as float64 (d,), on the CPU."""
    if len(values) != x.shape[1]:
        raise DataError(f"expected vectors of {len(values)} features, got {tuple(x.shape)}")
    return torch.tensor(values, dtype=torch.float64)

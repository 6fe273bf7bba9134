"""Vectors with missing features."""

from collections.abc import Sequence

import torch
from torch import Tensor

from samekind.augmentations.gaussian_noise import per_feature
from samekind.augmentations.limits import expect_vectors, expect_within


class FeatureDropout:
    """Each feature of each vector replaced by its mean, with ``probability``.

    ``means`` (d,) are the means of the features; a run fills them in from the training items. Without them
    the feature becomes 0.
    """

    def __init__(self, *, probability: float = 0.1, means: Sequence[float] | None = None) -> None:
        expect_within("probability", probability, 0, 1)
        self.probability = probability
        self.means = means

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_vectors(x)
        dropped = torch.rand(x.shape, dtype=torch.float64, generator=generator) < self.probability
        means = x.new_zeros(())
        if self.means is not None:
            means = per_feature(self.means, x).to(x.device, x.dtype, non_blocking=True)
        return torch.where(dropped.to(x.device, non_blocking=True), means, x)

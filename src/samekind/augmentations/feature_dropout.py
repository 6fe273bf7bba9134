"""Vectors with gaps."""

from collections.abc import Sequence

import torch
from torch import Tensor

from samekind.augmentations.gaussian_noise import per_feature
from samekind.augmentations.limits import expect_vectors, expect_within


class FeatureDropout:
    """Each feature of each vector left out with ``probability``: replaced by its mean, which says nothing.

    ``means`` (d,) are the means of the features; a run fills them in from the training items. Without them a
    feature that is left out is 0. The features that are kept stay as they are.
    """

    def __init__(self, *, probability: float = 0.1, means: Sequence[float] | None = None) -> None:
        expect_within("probability", probability, 0, 1)
        self.probability = probability
        self.means = means

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_vectors(x)
        gone = torch.rand(x.shape, dtype=torch.float64, generator=generator) < self.probability
        instead = (
            x.new_zeros(())
            if self.means is None
            else per_feature(self.means, x).to(x.device, x.dtype, non_blocking=True)
        )
        return torch.where(gone.to(x.device, non_blocking=True), instead, x)

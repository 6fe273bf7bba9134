"""Noise on every pixel.

The image noise of Monteiro et al., "Learning Semantic Similarities for Prototypical Classifiers", 2021.
"""

import math

import torch
from torch import Tensor

from samekind.augmentations.draws import chosen, noise_like, per_item
from samekind.augmentations.limits import expect_images, expect_within
from samekind.errors import SettingError


class AdditiveNoise:
    """With ``probability``, noise uniform in (0, 1), times one of ``factors`` for the whole image, added to
    its pixels. All images are clipped to [0, 1].
    """

    def __init__(self, *, probability: float = 0.5, factors: tuple[float, ...] = (0.1, 0.2, 0.3)) -> None:
        expect_within("probability", probability, 0, 1)
        if not factors:
            raise SettingError("factors: expected at least one number, got none")
        for factor in factors:
            expect_within("factors", factor, 0, math.inf)
        self.probability = probability
        self.factors = factors

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_images(x)
        rows = chosen(len(x), self.probability, generator=generator).nonzero()[:, 0]
        factors = torch.tensor(self.factors, dtype=torch.float64)
        drawn = factors[torch.randint(len(factors), (len(x),), generator=generator)][rows]
        rows = rows.to(x.device, non_blocking=True)
        part = x[rows]
        noisy = noise_like(part, generator=generator).mul_(per_item(drawn, x)).add_(part)
        return x.index_copy(0, rows, noisy).clamp_(0, 1)

"""Normal noise on images: what a smoothed classifier is trained with.

Cohen, Rosenfeld and Kolter, "Certified Adversarial Robustness via Randomized Smoothing", ICML 2019.
"""

import math

import torch
from torch import Tensor

from samekind.augmentations.draws import chosen, per_item
from samekind.augmentations.limits import expect_images, expect_within


class PixelNoise:
    """With ``probability``, normal noise of standard deviation ``deviation`` on every pixel, cut off at 0 and
    1: as `samekind certify` adds it.
    """

    def __init__(self, *, deviation: float = 0.25, probability: float = 1.0) -> None:
        expect_within("deviation", deviation, 0, math.inf)
        expect_within("probability", probability, 0, 1)
        self.deviation = deviation
        self.probability = probability

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_images(x)
        happens = chosen(len(x), self.probability, generator=generator)
        noise = self.deviation * torch.randn(x.shape, generator=generator)
        return (x + noise.to(x.device, x.dtype, non_blocking=True) * per_item(happens, x)).clamp(0, 1)

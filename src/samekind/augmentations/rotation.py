"""Images rotated."""

import torch
from torch import Tensor

from samekind.augmentations.draws import uniform
from samekind.augmentations.limits import expect_images, expect_within
from samekind.augmentations.warping import turned, warp


class Rotation:
    """Each image rotated about its centre by an angle uniform in [-degrees, degrees]; 0 from outside."""

    exact = False

    def __init__(self, *, degrees: float = 10.0) -> None:
        expect_within("degrees", degrees, 0, 180)
        self.degrees = degrees

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_images(x)
        return warp(x, self.matrices(x, generator=generator))

    def matrices(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        return turned(uniform(len(x), -self.degrees, self.degrees, generator=generator))

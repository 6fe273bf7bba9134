"""Images rotated, shifted, resized and sheared at once."""

import torch
from torch import Tensor

from samekind.augmentations.draws import uniform
from samekind.augmentations.limits import expect_images, expect_interval, expect_within
from samekind.augmentations.warping import enlarged, shifted, slanted, turned, warp


class Affine:
    """Each image sheared, resized, rotated and then shifted, by amounts of its own.

    The angle is uniform in [-degrees, degrees]; the shift in each direction is at most ``translate`` of the
    image's side; the size is a factor uniform in ``scale``; ``shear`` is the largest horizontal shear, in
    degrees. Pixels from outside are 0. The defaults only rotate.
    """

    exact = False

    def __init__(
        self,
        *,
        degrees: float = 10.0,
        translate: float = 0.0,
        scale: tuple[float, ...] = (1.0, 1.0),
        shear: float = 0.0,
    ) -> None:
        expect_within("degrees", degrees, 0, 180)
        expect_within("translate", translate, 0, 1)
        expect_interval("scale", scale)
        expect_within("shear", shear, 0, 60)
        self.degrees = degrees
        self.translate = translate
        self.scale = scale
        self.shear = shear

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_images(x)
        return warp(x, self.matrices(x, generator=generator))

    def matrices(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        count, (height, width) = len(x), x.shape[-2:]
        slants = torch.deg2rad(uniform(count, -self.shear, self.shear, generator=generator)).tan()
        sizes = uniform(count, *self.scale[:2], generator=generator)
        angles = uniform(count, -self.degrees, self.degrees, generator=generator)
        right = uniform(count, -self.translate * width, self.translate * width, generator=generator)
        down = uniform(count, -self.translate * height, self.translate * height, generator=generator)
        resized = slanted(slants, torch.zeros_like(slants)) @ enlarged(sizes, sizes)
        return resized @ turned(angles) @ shifted(right, down)

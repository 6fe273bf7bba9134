"""A part of each image, enlarged to the whole.

Szegedy et al., "Going Deeper with Convolutions", CVPR 2015.
"""

import math

import torch
from torch import Tensor

from samekind.augmentations.draws import uniform
from samekind.augmentations.limits import expect_images, expect_interval
from samekind.augmentations.warping import enlarged, shifted, warp
from samekind.errors import SettingError

#: How often a window that does not fit is drawn again before the whole image is taken.
ATTEMPTS = 10


class RandomResizedCrop:
    """A window with a share of the area uniform in ``scale`` and width / height log-uniform in ``ratio``
    (times the image's own), anywhere in the image, stretched back to the size of the image, or to squares of
    ``size`` pixels: pictures read at 288 pixels can be trained on at 224.

    Windows that do not fit are drawn again; after ten attempts the whole image is taken.
    """

    exact = False

    def __init__(
        self,
        *,
        scale: tuple[float, ...] = (0.08, 1.0),
        ratio: tuple[float, ...] = (3 / 4, 4 / 3),
        size: int | None = None,
    ) -> None:
        expect_interval("scale", scale)
        expect_interval("ratio", ratio)
        if scale[1] > 1:
            raise SettingError(f"scale: a window is at most the whole image, 1; got {list(scale)}")
        if size is not None and size < 1:
            raise SettingError(f"size: expected 1 pixel or more; got {size}")
        self.scale = scale
        self.ratio = ratio
        self.size = size

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_images(x)
        return warp(x, self.matrices(x, generator=generator), size=self.size)

    def matrices(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        count, (height, width) = len(x), x.shape[-2:]
        areas = uniform(ATTEMPTS * count, *self.scale[:2], generator=generator)
        low, high = map(math.log, self.ratio)
        shapes = uniform(ATTEMPTS * count, low, high, generator=generator).exp()
        # Width and height of the windows as shares of the image's: (attempts, count).
        across = (areas * shapes).sqrt().reshape(ATTEMPTS, count)
        along = (areas / shapes).sqrt().reshape(ATTEMPTS, count)
        fits = (across <= 1) & (along <= 1)
        first = fits.int().argmax(0, keepdim=True)
        any_fits = fits.any(0)
        across = across.gather(0, first)[0].where(any_fits, 1.0)
        along = along.gather(0, first)[0].where(any_fits, 1.0)
        right = uniform(count, -0.5, 0.5, generator=generator) * (1 - across) * width
        down = uniform(count, -0.5, 0.5, generator=generator) * (1 - along) * height
        return shifted(-right, -down) @ enlarged(1 / across, 1 / along)

"""Images out of focus."""

import torch
from torch import Tensor

from samekind.augmentations.draws import chosen, uniform
from samekind.augmentations.limits import expect_images, expect_interval, expect_within


class Blur:
    """With ``probability`` a Gaussian blur, its deviation in pixels uniform in ``sigma`` for each image."""

    def __init__(self, *, sigma: tuple[float, ...] = (0.1, 2.0), probability: float = 0.5) -> None:
        expect_interval("sigma", sigma)
        expect_within("probability", probability, 0, 1)
        self.sigma = sigma
        self.probability = probability

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_images(x)
        rows = chosen(len(x), self.probability, generator=generator).nonzero()[:, 0]
        sigmas = uniform(len(x), *self.sigma[:2], generator=generator)[rows]
        rows = rows.to(x.device, non_blocking=True)
        return x.index_copy(0, rows, blurred(x[rows], sigmas))


def blurred(images: Tensor, sigmas: Tensor) -> Tensor:
    """Images (n, …, height, width) blurred by ``sigmas`` (n,): rows and columns one after the other.

    At the border the weights of the existing pixels add up to 1, so a uniform image stays uniform.
    """
    height, width = images.shape[-2:]
    down = _weights(height, sigmas).to(images.device, images.dtype, non_blocking=True)[:, None]
    across = _weights(width, sigmas).to(images.device, images.dtype, non_blocking=True)[:, None]
    return (down @ images @ across.mT).clamp_(0, 1)


def _weights(size: int, sigmas: Tensor) -> Tensor:
    """The weight of every pixel of a line in every other: (n, size, size); rows add up to 1."""
    places = torch.arange(size, dtype=torch.float64)
    apart = (places[:, None] - places) / sigmas[:, None, None]
    return (-apart.square() / 2).softmax(-1)

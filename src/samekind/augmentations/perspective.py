"""Random perspective of images."""

import torch
from torch import Tensor

from samekind.augmentations.draws import chosen
from samekind.augmentations.limits import expect_images, expect_within
from samekind.augmentations.warping import warp

#: The corners of an image, in halves of its sides from the centre.
CORNERS = torch.tensor([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]], dtype=torch.float64)


class Perspective:
    """With ``probability``, each corner of an image moves inwards by up to ``distortion`` of half a side in
    each direction, and the image with it; pixels from outside are 0.

    ``distortion`` is at most 0.5: with much more an image could fold over itself.
    """

    exact = False

    def __init__(self, *, distortion: float = 0.5, probability: float = 0.5) -> None:
        expect_within("distortion", distortion, 0, 0.5)
        expect_within("probability", probability, 0, 1)
        self.distortion = distortion
        self.probability = probability

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_images(x)
        return warp(x, self.matrices(x, generator=generator))

    def matrices(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        count, (height, width) = len(x), x.shape[-2:]
        inwards = self.distortion * torch.rand(count, 4, 2, dtype=torch.float64, generator=generator)
        happens = chosen(count, self.probability, generator=generator)
        sides = CORNERS.new_tensor([width / 2, height / 2])
        seen = projection(CORNERS * (1 - inwards) * sides, (CORNERS * sides).expand(count, 4, 2))
        return torch.where(happens[:, None, None], seen, torch.eye(3, dtype=seen.dtype))


def projection(places: Tensor, seen: Tensor) -> Tensor:
    """The matrices (n, 3, 3) that map four points (n, 4, 2) to four others, no three on a line."""
    (x, y), (u, v) = places.unbind(-1), seen.unbind(-1)
    one, zero = torch.ones_like(x), torch.zeros_like(x)
    # u = (a x + b y + c) / (g x + h y + 1), v likewise: two equations a corner, linear in the eight unknowns.
    for_u = torch.stack([x, y, one, zero, zero, zero, -u * x, -u * y], dim=-1)
    for_v = torch.stack([zero, zero, zero, x, y, one, -v * x, -v * y], dim=-1)
    unknown = torch.linalg.solve(torch.cat([for_u, for_v], dim=1), torch.cat([u, v], dim=1))
    return torch.cat([unknown, one[:, :1]], dim=1).reshape(-1, 3, 3)

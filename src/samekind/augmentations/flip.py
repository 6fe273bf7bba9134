"""Mirror images."""

import torch
from torch import Tensor

from samekind.augmentations.draws import chosen, per_item
from samekind.augmentations.limits import expect_images, expect_within
from samekind.augmentations.warping import enlarged
from samekind.errors import SettingError


class Flip:
    """Each image mirrored left to right (``horizontal``) and top to bottom (``vertical``), independently,
    each with ``probability``. Pixels are moved, not changed.
    """

    exact = True

    def __init__(self, *, horizontal: bool = True, vertical: bool = False, probability: float = 0.5) -> None:
        expect_within("probability", probability, 0, 1)
        if not (horizontal or vertical):
            raise SettingError("horizontal: expected it, vertical or both, got neither")
        self.horizontal = horizontal
        self.vertical = vertical
        self.probability = probability

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_images(x)
        sideways, upside_down = self._draw(len(x), generator)
        for flipped, flips, dimension in ((self.horizontal, sideways, -1), (self.vertical, upside_down, -2)):
            if flipped:
                x = torch.where(per_item(flips, x).bool(), x.flip(dimension), x)
        return x

    def matrices(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        sideways, upside_down = self._draw(len(x), generator)
        return enlarged(1.0 - 2.0 * sideways.double(), 1.0 - 2.0 * upside_down.double())

    def _draw(self, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Which images are mirrored left to right, and which top to bottom."""
        sideways = chosen(count, self.probability * self.horizontal, generator=generator)
        return sideways, chosen(count, self.probability * self.vertical, generator=generator)

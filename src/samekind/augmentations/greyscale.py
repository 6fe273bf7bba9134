"""Colour removed."""

import torch
from torch import Tensor

from samekind.augmentations.colours import grey
from samekind.augmentations.draws import chosen, per_item
from samekind.augmentations.limits import expect_images, expect_within


class Greyscale:
    """With ``probability``, all channels of an image replaced by its brightness."""

    def __init__(self, *, probability: float = 0.1) -> None:
        expect_within("probability", probability, 0, 1)
        self.probability = probability

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_images(x)
        happens = chosen(len(x), self.probability, generator=generator)
        return torch.where(per_item(happens, x).bool(), grey(x), x)

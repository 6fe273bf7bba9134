"""A few changes drawn from the usual list, all of one strength.

Cubuk et al., "RandAugment: Practical Automated Data Augmentation with a Reduced Search Space", 2020.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from samekind.augmentations.colours import recoloured
from samekind.augmentations.limits import expect_images, expect_within
from samekind.augmentations.tones import equalised, posterised, sharpened, solarised, stretched
from samekind.augmentations.warping import shifted, slanted, turned, warp
from samekind.errors import SettingError

STRONGEST = 30

#: Those that move pixels, and those that change them. Solarising begins beyond the brightest of 256 levels:
#: without strength a white pixel stays white.
MOVES = ("shear across", "shear along", "shift across", "shift along", "rotate")
TONES: dict[str, Callable[[Tensor, Tensor, float], Tensor]] = {
    "brightness": lambda x, factors, _: recoloured(x, [("brightness", factors)]),
    "colour": lambda x, factors, _: recoloured(x, [("saturation", factors)]),
    "contrast": lambda x, factors, _: recoloured(x, [("contrast", factors)]),
    "sharpness": lambda x, factors, _: sharpened(x, factors),
    "posterise": lambda x, _, strength: posterised(x, 8 - round(4 * strength)),
    "solarise": lambda x, _, strength: solarised(x, (1 - strength) * 256 / 255),
    "autocontrast": lambda x, *_: stretched(x),
    "equalise": lambda x, *_: equalised(x),
}
OPERATIONS = ("nothing", *MOVES, *TONES)


class RandAugment:
    """To each image ``operations`` changes in a row, each drawn from the fourteen of `OPERATIONS`.

    ``magnitude``, 0 to 30, is how strong they are; at 30 an image is turned by 30 degrees, slanted by 0.3,
    shifted by 45% of its side, its colours changed by a factor of 0.1 or 1.9, posterised to 4 bits, and
    turned to its negative; which way is drawn. At 0 only autocontrast and equalise change anything much.
    """

    def __init__(self, *, operations: int = 2, magnitude: float = 15) -> None:
        if operations < 0:
            raise SettingError(f"operations: expected a whole number from 0 up, got {operations}")
        expect_within("magnitude", magnitude, 0, STRONGEST)
        self.operations = operations
        self.magnitude = magnitude

    def __call__(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        expect_images(x)
        x, strength = x.clone(), self.magnitude / STRONGEST
        for _ in range(self.operations):
            drawn = torch.randint(len(OPERATIONS), (len(x),), generator=generator)
            signs = 2.0 * torch.randint(2, (len(x),), dtype=torch.float64, generator=generator) - 1
            strengths = signs * strength
            self._move(x, drawn, strengths)
            for name, change in TONES.items():
                rows = (drawn == OPERATIONS.index(name)).nonzero()[:, 0]
                if len(rows):
                    place = rows.to(x.device, non_blocking=True)
                    x[place] = change(x[place], 1 + 0.9 * strengths[rows], strength)
        return x

    def _move(self, x: Tensor, drawn: Tensor, strengths: Tensor) -> None:
        """Those of the images that drew a change of place, in one resampling."""
        rows = ((drawn >= 1) & (drawn <= len(MOVES))).nonzero()[:, 0]
        if len(rows):
            place = rows.to(x.device, non_blocking=True)
            x[place] = warp(x[place], moves(drawn[rows], strengths[rows], *x.shape[-2:]))


def moves(drawn: Tensor, strengths: Tensor, height: int, width: int) -> Tensor:
    """The matrices (n, 3, 3) of changes of place, each with a strength from -1 to 1."""
    by = {name: strengths * (drawn == OPERATIONS.index(name)) for name in MOVES}
    slants = slanted(0.3 * by["shear across"], 0.3 * by["shear along"])
    farthest = 150 / 331  # 150 pixels of an image of 331, in the paper
    shifts = shifted(farthest * width * by["shift across"], farthest * height * by["shift along"])
    return slants @ shifts @ turned(30 * by["rotate"])

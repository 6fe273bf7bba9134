"""A few changes drawn from a list, all of one strength.

Cubuk et al., "RandAugment: Practical Automated Data Augmentation with a Reduced Search Space", 2020.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.augmentations.colours import recoloured
from samekind.augmentations.limits import expect_images, expect_within
from samekind.augmentations.tones import equalised, posterised, sharpened, solarised, stretched
from samekind.augmentations.warping import warp
from samekind.errors import SettingError

STRONGEST = 30
FARTHEST = 150 / 331  # 150 pixels of an image of 331, in the paper

#: Operations that move pixels, and those that change them.
MOVES = ("shear across", "shear along", "shift across", "shift along", "rotate")
COLOURS = ("brightness", "colour", "contrast")
TONES = (*COLOURS, "sharpness", "posterise", "solarise", "autocontrast", "equalise")
OPERATIONS = ("nothing", *MOVES, *TONES)


class Drawn(NamedTuple):
    """The draws of some images: the number of the operation (n,) and its signed strength from -1 to 1 (n,),
    both on the CPU; ``strength`` is the size of all of these.
    """

    operations: Tensor
    signed: Tensor
    strength: float

    @property
    def factors(self) -> Tensor:
        """Factors of colours and sharpness: 1 changes nothing, 0.1 and 1.9 most."""
        return 1 + 0.9 * self.signed

    def by(self, name: str) -> Tensor:
        """Which images drew this operation."""
        return self.operations == OPERATIONS.index(name)


class RandAugment:
    """``operations`` changes of each image, one after another, each drawn from the fourteen of `OPERATIONS`.

    ``magnitude``, 0 to 30, is their strength. At 30 an image is rotated by 30 degrees, sheared by 0.3,
    shifted by 45% of its side, its colours changed by a factor of 0.1 or 1.9, posterised to 4 bits, or
    inverted; the sign is drawn. At 0 only autocontrast and equalise change much.
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
            _change(x, Drawn(drawn, signs * strength, strength))
        return x


def _change(x: Tensor, drawn: Drawn) -> None:
    """Apply to every image what it drew, in place. Images are sorted by operation, for few calls to a GPU."""
    order = drawn.operations.argsort(stable=True)
    operations, signed = drawn.operations[order], drawn.signed[order]
    counts = torch.bincount(operations, minlength=len(OPERATIONS)).tolist()
    places = order.to(x.device, non_blocking=True)
    end = counts[0]  # these drew nothing
    for names, change in CHANGES.items():
        begin, end = end, end + sum(counts[OPERATIONS.index(name)] for name in names)
        if end > begin:
            rows = places[begin:end]
            some = Drawn(operations[begin:end], signed[begin:end], drawn.strength)
            x.index_copy_(0, rows, change(x.index_select(0, rows), some))


def moved(images: Tensor, drawn: Drawn) -> Tensor:
    """Images that drew a move, in one resampling."""
    return warp(images, moves(drawn, *images.shape[-2:]))


def moves(drawn: Drawn, height: int, width: int) -> Tensor:
    """The matrices (n, 3, 3) of moves; each image has one, so there is no product."""
    across, along, right, down, turn = (drawn.signed * drawn.by(name) for name in MOVES)
    angle = torch.deg2rad(30 * turn)
    matrices = torch.eye(3, dtype=torch.float64).repeat(len(angle), 1, 1)
    matrices[:, 0, 0] = matrices[:, 1, 1] = angle.cos()
    matrices[:, 0, 1] = -angle.sin() - 0.3 * across
    matrices[:, 1, 0] = angle.sin() - 0.3 * along
    matrices[:, 0, 2], matrices[:, 1, 2] = -FARTHEST * width * right, -FARTHEST * height * down
    return matrices


def coloured(images: Tensor, drawn: Drawn) -> Tensor:
    """Images that drew a change of colours, in one pass: a factor of 1 changes nothing."""
    amounts = {name: torch.where(drawn.by(name), drawn.factors, 1.0) for name in COLOURS}
    return recoloured(
        images,
        [
            ("brightness", amounts["brightness"]),
            ("saturation", amounts["colour"]),
            ("contrast", amounts["contrast"]),
        ],
    )


#: Operations that are applied together, in the order of `OPERATIONS`. Without strength solarise begins above
#: the brightest of 256 levels, so that a white pixel stays white.
CHANGES: dict[tuple[str, ...], Callable[[Tensor, Drawn], Tensor]] = {
    MOVES: moved,
    COLOURS: coloured,
    ("sharpness",): lambda images, drawn: sharpened(images, drawn.factors),
    ("posterise",): lambda images, drawn: posterised(images, 8 - round(4 * drawn.strength)),
    ("solarise",): lambda images, drawn: solarised(images, (1 - drawn.strength) * 256 / 255),
    ("autocontrast",): lambda images, _: stretched(images),
    ("equalise",): lambda images, _: equalised(images),
}

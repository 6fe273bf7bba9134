"""A few changes drawn from the usual list, all of one strength.

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

#: Those that move pixels, and those that change them.
MOVES = ("shear across", "shear along", "shift across", "shift along", "rotate")
COLOURS = ("brightness", "colour", "contrast")
TONES = (*COLOURS, "sharpness", "posterise", "solarise", "autocontrast", "equalise")
OPERATIONS = ("nothing", *MOVES, *TONES)


class Drawn(NamedTuple):
    """What some images drew: the number of the operation (n,), and how strong it is and which way, from -1 to
    1 (n,), both on the CPU; ``strength`` is the size of all of these.
    """

    operations: Tensor
    signed: Tensor
    strength: float

    @property
    def factors(self) -> Tensor:
        """Of colours and sharpness: 1 is none, 0.1 and 1.9 are the most."""
        return 1 + 0.9 * self.signed

    def by(self, name: str) -> Tensor:
        """Which images drew this."""
        return self.operations == OPERATIONS.index(name)


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
            _change(x, Drawn(drawn, signs * strength, strength))
        return x


def _change(x: Tensor, drawn: Drawn) -> None:
    """Every image by what it drew, in place. They are sorted by that once, so that few words go to a GPU."""
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
    """Those that drew a change of place, in one resampling."""
    return warp(images, moves(drawn, *images.shape[-2:]))


def moves(drawn: Drawn, height: int, width: int) -> Tensor:
    """The matrices (n, 3, 3) of changes of place: none of more than one, so nothing is to be multiplied."""
    across, along, right, down, turn = (drawn.signed * drawn.by(name) for name in MOVES)
    angle = torch.deg2rad(30 * turn)
    matrices = torch.eye(3, dtype=torch.float64).repeat(len(angle), 1, 1)
    matrices[:, 0, 0] = matrices[:, 1, 1] = angle.cos()
    matrices[:, 0, 1] = -angle.sin() - 0.3 * across
    matrices[:, 1, 0] = angle.sin() - 0.3 * along
    matrices[:, 0, 2], matrices[:, 1, 2] = -FARTHEST * width * right, -FARTHEST * height * down
    return matrices


def coloured(images: Tensor, drawn: Drawn) -> Tensor:
    """Those that drew a change of colours, in one pass: a factor of 1 changes nothing."""
    amounts = {name: torch.where(drawn.by(name), drawn.factors, 1.0) for name in COLOURS}
    return recoloured(
        images,
        [
            ("brightness", amounts["brightness"]),
            ("saturation", amounts["colour"]),
            ("contrast", amounts["contrast"]),
        ],
    )


#: What is done together, in the order of `OPERATIONS`. Solarising begins beyond the brightest of 256 levels:
#: without strength a white pixel stays white.
CHANGES: dict[tuple[str, ...], Callable[[Tensor, Drawn], Tensor]] = {
    MOVES: moved,
    COLOURS: coloured,
    ("sharpness",): lambda images, drawn: sharpened(images, drawn.factors),
    ("posterise",): lambda images, drawn: posterised(images, 8 - round(4 * drawn.strength)),
    ("solarise",): lambda images, drawn: solarised(images, (1 - drawn.strength) * 256 / 255),
    ("autocontrast",): lambda images, _: stretched(images),
    ("equalise",): lambda images, _: equalised(images),
}

"""Regions, which an attack stays in: their contract, and functions that they share."""

from typing import Protocol, Self

import torch
from torch import Tensor

from samekind.errors import SettingError


class Region(Protocol):
    """A set of inputs around every clean item, of the size ``epsilon``; a frozen dataclass.

    Inputs and clean items are (n, …). With x on the straight line from the clean item to a point of the
    region, x is in the region, too: so clipping towards the clean item never leaves a ball.
    """

    @property
    def epsilon(self) -> float: ...

    def project(self, x: Tensor, clean: Tensor) -> Tensor:
        """Points of the region near ``x``; ``x`` itself where it is inside."""
        ...

    def steepest(self, gradient: Tensor) -> Tensor:
        """The step (n, …) of size 1 in the region's norm along which a gradient rises; 0 where that is 0."""
        ...

    def start(self, clean: Tensor, generator: torch.Generator) -> Tensor:
        """A random point of every region. All items get the same draw, see `shared_draws`."""
        ...

    def contains(self, x: Tensor, clean: Tensor) -> Tensor:
        """Whether points are inside (n,), but for rounding."""
        ...

    def distance(self, x: Tensor, clean: Tensor) -> Tensor:
        """How far points are from the clean items (n,), in the norm that ``epsilon`` is in."""
        ...

    def resized(self, epsilon: float) -> Self:
        """The same kind of region of another size."""
        ...


def expect_size(epsilon: float) -> None:
    """Raise SettingError for a size that is NaN or below 0."""
    if not epsilon >= 0:
        raise SettingError(f"epsilon: expected a number from 0 up, got {epsilon}")


def per_item(values: Tensor, x: Tensor) -> Tensor:
    """Numbers (n,) in the shape (n, 1, …), which broadcasts with items ``x`` (n, …)."""
    return values.reshape(-1, *[1] * (x.dim() - 1))


def of(values: Tensor, items: Tensor) -> Tensor:
    """The rows of some items in rising order; without a copy if these are all items."""
    return values if len(items) == len(values) else values[items]


def no_further(distance: Tensor, epsilon: float | Tensor, x: Tensor) -> Tensor:
    """Whether distances (n,) are at most ``epsilon``, one or (n,), but for the rounding of inputs (n, …)."""
    largest = x.flatten(1).abs().amax(1)
    rounding = 32 * torch.finfo(x.dtype).eps * (epsilon + largest)
    return distance <= epsilon + rounding


def shared_draws(clean: Tensor, generator: torch.Generator, *, normal: bool = False) -> Tensor:
    """Random numbers (1, …) in the shape of one item, uniform in [0, 1) or normal.

    All items of a batch share them: so the result for an item depends on the item and the seed alone, not on
    its place, the other items, or which of them are done. They are drawn on the device of the generator, then
    moved.
    """
    draw = torch.randn if normal else torch.rand
    shape = (1, *clean.shape[1:])
    return draw(shape, dtype=clean.dtype, generator=generator, device=generator.device).to(clean.device)

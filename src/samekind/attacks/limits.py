"""The valid inputs: an attack never leaves them, so that what it returns is an item and not only numbers."""

from dataclasses import dataclass

import torch
from torch import Tensor

from samekind.decoding.waves import LARGEST, PAD
from samekind.errors import DataError


@dataclass(frozen=True)
class Limits:
    """The range of valid inputs, from ``low`` to ``high``: numbers, or tensors in the shape of one item.

    For tables ``integer`` and ``fixed`` are boolean tensors in the shape of one item: columns of whole
    numbers, and columns that no attack may change. Without arguments everything is valid.

    Sounds of unequal length are padded with NaN. Inside an attack ``padding``, a number outside of the range,
    stands for it: numbers that are padding in the clean item do not change and do not count in any norm.
    """

    low: float | Tensor = -torch.inf
    high: float | Tensor = torch.inf
    integer: Tensor | None = None
    fixed: Tensor | None = None
    padding: float | None = None

    def clip(self, x: Tensor, clean: Tensor) -> Tensor:
        """The nearest valid inputs to ``x`` (n, …), for attacked items ``clean`` (n, …).

        Whole numbers are rounded towards the clean item: no coordinate gets further away from it, and a ball
        around it is not left.
        """
        x = self.bound(x, clean)
        if self.integer is None:
            return x
        return torch.where(self.integer.to(x.device), clean + (x - clean).trunc(), x)

    def bound(self, x: Tensor, clean: Tensor) -> Tensor:
        """The same without rounding: for an iterate that moves by less than 1 in a step."""
        if isinstance(self.low, Tensor) or isinstance(self.high, Tensor):
            x = x.clamp(self._like(self.low, x), self._like(self.high, x))
        else:  # numbers need not be copied to the device
            x = x.clamp(self.low, self.high)
        x = x if self.padding is None else torch.where(clean == self.padding, clean, x)
        return x if self.fixed is None else torch.where(self.fixed.to(x.device), clean, x)

    def free(self, step: Tensor, x: Tensor, *, classic: bool = False) -> Tensor:
        """A step (n, …) from ``x`` without the moves that these limits would undo: moves of fixed columns,
        and moves outwards at the end of the range; with ``classic`` only the former.

        A step of the size 1 that is spent on pixels that cannot move is lost: with the L1 ball that can be
        all of it, and a model looks robust that is not.
        """
        if self.fixed is not None:
            step = step.masked_fill(self.fixed.to(x.device), 0)
        if self.padding is not None:
            step = step.masked_fill(x == self.padding, 0)
        if classic:
            return step
        low, high = (end.to(x) if isinstance(end, Tensor) else end for end in (self.low, self.high))
        return step.masked_fill(((x <= low) & (step < 0)) | ((x >= high) & (step > 0)), 0)

    def expect(self, x: Tensor) -> None:
        """Raise DataError for items that are not floats, or not valid to begin with."""
        if not x.is_floating_point():
            raise DataError(f"an attack needs items as floats; got {x.dtype}; divide bytes by 255")
        if not bool(x.isfinite().all()):
            raise DataError("an item has numbers that are not finite; leave it out")
        if not torch.equal(x, self.bound(x, x)):
            raise DataError(
                f"items lie outside the limits: they go from {float(x.min()):g} to {float(x.max()):g}; "
                "give their true range, and put a normalisation into the model"
            )
        if self.integer is not None and not torch.equal(
            x, torch.where(self.integer.to(x.device), x.round(), x)
        ):
            raise DataError("expected whole numbers in the integer columns; got fractions: check `integer`")

    @staticmethod
    def _like(limit: float | Tensor, x: Tensor) -> Tensor:
        return torch.as_tensor(limit, dtype=x.dtype, device=x.device)


#: Pictures as floats.
PICTURES = Limits(0.0, 1.0)

#: Sounds as floats: the 16-bit samples that they can be written as. The one below these marks padding.
SOUNDS = Limits(-LARGEST / -PAD, LARGEST / -PAD, padding=-1.0)


def column_limits(rows: Tensor, *, integer: Tensor | None = None, fixed: Tensor | None = None) -> Limits:
    """The range of every column of a table (n, …): from the smallest to the largest number in ``rows``."""
    return Limits(rows.amin(0), rows.amax(0), integer, fixed)

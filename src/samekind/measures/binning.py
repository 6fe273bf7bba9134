"""Scores counted by their bits, on any device, without waiting for it.

Of the 32 bits of a score the upper 18 are its bin and the lower 14 its cell in the bin: each cell is one
number that float32 can hold. A bin covers 1/512 of an octave.
"""

import math
import struct
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from samekind.measures.checks import check_trials
from samekind.measures.sorted_trials import SortedTrials, sort_values

CELL_BITS = 14
CELLS = 2**CELL_BITS
BINS = 2 ** (32 - CELL_BITS)
#: Bins whose exponent is that of infinity and NaN: as many below all numbers as above.
BROKEN = 2 ** (23 - CELL_BITS)


def lowest_of(bin: int, cell: int = 0) -> float:
    """The number in a cell, or the lowest number of the bin if no cell is given."""
    order = (bin - BINS // 2) * CELLS + cell
    bits = order if order >= 0 else order ^ 0x7FFFFFFF
    number: float = struct.unpack("<f", struct.pack("<i", bits))[0]
    return number


def count_bins(
    blocks: Iterable[tuple[Tensor, Tensor]], threshold: float | None = None
) -> tuple[Tensor, tuple[int, int] | None]:
    """Trials of two classes and of one in each bin, (bins, 2), and the false accepts and false rejects.

    The errors are counted at ``threshold``, if there is one.
    """
    if threshold is not None and math.isnan(threshold):
        raise ValueError("expected a threshold to compare scores with, got NaN")
    counts, errors = torch.zeros(2 * BINS, dtype=torch.int64), torch.zeros(2, dtype=torch.int64)
    for scores, same in blocks:
        scores, same = _checked(scores, same)
        counts, errors = counts.to(scores.device), errors.to(scores.device)
        _add(counts, _bin_of(_order(scores)).mul_(2).add_(same))
        if threshold is not None:
            accepted = scores >= threshold
            errors += torch.stack([(accepted & ~same).sum(), (~accepted & same).sum()])
    counts = expect_finite(counts.view(BINS, 2))
    return counts, None if threshold is None else (int(errors[0]), int(errors[1]))


def expect_finite(counts: Tensor) -> Tensor:
    """The counts by bin, (bins, 2). Scores that are NaN or infinite raise a ValueError."""
    broken = int(counts[:BROKEN].sum() + counts[-BROKEN:].sum())
    if broken:
        of = int(counts.sum())
        raise ValueError(f"expected finite scores, got {broken} of {of} that are NaN or infinite")
    return counts


class StoredScores:
    """Scores of the trials of some bins, each kind in an array of known size."""

    def __init__(self, targets: int, impostors: int) -> None:
        self.targets = np.empty(targets, dtype=np.int32)
        self.impostors = np.empty(impostors, dtype=np.int32)
        self.filled = [0, 0]

    def add(self, order: Tensor, same: Tensor, selection: Tensor) -> None:
        """Store the selected trials. Trials that no longer fit are only counted."""
        for column, store in enumerate((self.impostors, self.targets)):
            # numpy selects without an index of eight bytes a trial.
            scores = order.numpy()[(selection & same if column else selection & ~same).numpy()]
            room = store[self.filled[column] :][: len(scores)]
            room[:] = scores[: len(room)]
            self.filled[column] += len(scores)

    def sorted(self) -> SortedTrials:
        """All stored trials, sorted; ValueError if there are more or fewer than expected."""
        if self.filled != [len(self.impostors), len(self.targets)]:
            expected = len(self.impostors) + len(self.targets)
            raise ValueError(
                f"expected the same trials on every walk, got {expected} in some bins on the first and "
                f"{sum(self.filled)} on a later one; is something random or an iterator used twice?"
            )
        return SortedTrials(
            *(sort_values(torch.from_numpy(values)) for values in (self.targets, self.impostors))
        )


def count_cells(
    blocks: Iterable[tuple[Tensor, Tensor]],
    counted: Sequence[int],
    stored: Sequence[int],
    store: StoredScores,
    *,
    dtype: torch.dtype,
    device: torch.device,
) -> Tensor:
    """Trials of two classes and of one in each cell of the counted bins: (bins, 2, cells).

    The trials of the ``stored`` bins go to the store. This is for a CPU only: with another device, every
    block would have to wait for it.
    """
    slots = torch.zeros(BINS, dtype=torch.int32, device=device)
    numbers = torch.arange(1, len(counted) + 1, dtype=torch.int32, device=device)
    slots[torch.tensor(counted, dtype=torch.int64, device=device)] = numbers
    slots[torch.tensor(stored, dtype=torch.int64, device=device)] = -1
    # All other trials are counted in the first slot: leaving them out would have to wait for the device.
    counts = torch.zeros((len(counted) + 1) * CELLS * 2, dtype=dtype, device=device)
    for scores, same in blocks:
        scores, same = _checked(scores, same)
        order = _order(scores)
        slot = slots.index_select(0, _bin_of(order))
        if stored:
            store.add(order, same, slot < 0)
        if counted:
            # Stored trials are counted in the first slot, too.
            places = slot.clamp_(min=0).mul_(2).add_(same).mul_(CELLS)
            _add(counts, places.add_(order.bitwise_and_(CELLS - 1)))
    return counts.view(-1, 2, CELLS)[1:]


def _order(scores: Tensor) -> Tensor:
    """Whole numbers, int32, in the order of the scores. Equal scores have equal numbers."""
    # Adding 0 turns -0 into 0.
    bits = (scores + 0.0).view(torch.int32)
    # The bits of negative numbers count the wrong way; their sign bit stays.
    return bits.bitwise_xor_((bits >> 31).bitwise_and_(0x7FFFFFFF))


def _bin_of(order: Tensor) -> Tensor:
    return (order >> CELL_BITS).add_(BINS // 2)


def _add(counts: Tensor, places: Tensor) -> None:
    counts.index_add_(0, places, torch.ones_like(counts[:1]).expand(len(places)))


def _checked(scores: Tensor, same: Tensor) -> tuple[Tensor, Tensor]:
    """A block as float32, checked without looking at its numbers."""
    check_trials(scores, same)
    if scores.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError(f"expected scores in float32 or shorter, got {scores.dtype}; round them by .float()")
    return scores.detach().float(), same

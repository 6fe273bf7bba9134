"""The data around an item that can matter to its Voronoi cell.

A data point farther than twice epsilon from an item is farther than epsilon from every point of the ball
around it. So it cuts nothing off the ball, and the points within twice epsilon are provably enough.
"""

import hashlib
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.errors import DataError

#: Numbers that a block of distances, or the memory of all that is known, may take.
BLOCK, MEMORY = 2**24, 2**26
#: Batches whose results are remembered: an attack needs the same one many times.
RECENT = 2
#: The largest loss of a distance by rounding, as a share of it.
ROUNDING = 1e-5
NOTHING = torch.zeros(0, dtype=torch.long)


#: An item by its content, the reach and the order of the norm.
Key = tuple[bytes, float, float]


class Near(NamedTuple):
    """The data points that may cut the balls around n items."""

    points: Tensor  # (m, d), float64
    distances: Tensor  # (n, m), from each item, float64; infinite where a point cannot matter to it


class Neighbours:
    """All data (items, …), to look up the points near an item. Results are remembered.

    A point at the same place as an item is taken for the item itself. Raises DataError for data that are not
    finite floats.
    """

    def __init__(self, data: Tensor) -> None:
        if not data.is_floating_point() or not len(data) or not bool(data.isfinite().all()):
            raise DataError(
                "neighbours need data as finite floats, one item at least; "
                f"got {data.dtype} of shape {tuple(data.shape)}"
            )
        self.data = data.detach()
        self._known: dict[Key, tuple[Tensor, Tensor]] = {}
        self._recent: list[tuple[list[Key], Near]] = []
        self._held = 0

    def within(self, clean: Tensor, *, reach: float, order: float) -> Near:
        """The data at most ``reach`` away from items (n, …) in the norm of an ``order``: 1, 2 or infinity."""
        if clean.shape[1:] != self.data.shape[1:]:
            raise DataError(
                f"items of shape {tuple(clean.shape[1:])} have no neighbours among data of shape "
                f"{tuple(self.data.shape[1:])}; give the data as the model takes it"
            )
        keys = [(name, reach, order) for name in _names(clean)]
        for asked, near in self._recent:
            if asked == keys and near.points.device == clean.device:
                return near
        near = self._together(clean, keys)
        self._recent = [(keys, near), *self._recent[: RECENT - 1]]
        return near

    def _together(self, clean: Tensor, keys: list[Key]) -> Near:
        """The neighbours of all items of a batch; new items are looked up first."""
        new = [row for row, key in enumerate(keys) if key not in self._known]
        if self._held > MEMORY:
            self._known.clear()
            self._held, new = 0, list(range(len(keys)))
        height = max(1, BLOCK // len(self.data))
        for rows in (new[top : top + height] for top in range(0, len(new), height)):
            self._search(clean[rows], [keys[row] for row in rows])
        lists = [self._known[key] for key in keys]
        together = torch.cat([NOTHING, *(numbers for numbers, _ in lists)])
        union, places = torch.unique(together, return_inverse=True)
        distances = torch.full((len(keys), len(union)), torch.inf, dtype=torch.float64)
        lengths = [len(numbers) for numbers, _ in lists]
        for row, columns, (_, known) in zip(distances, places.split(lengths), lists, strict=True):
            row[columns] = known
        points = self.data[union.to(self.data.device)].flatten(1)
        return Near(points.to(clean.device, torch.float64), distances.to(clean.device))

    def _search(self, clean: Tensor, keys: list[Key]) -> None:
        """Look up the data near some items, and remember them."""
        _, reach, order = keys[0]
        distances = apart(clean.flatten(1).to(self.data.device), self.data.flatten(1), order)
        near = (distances <= reach * (1 + ROUNDING)) & (distances > 0)
        for key, row, chosen in zip(keys, distances, near, strict=True):
            self._known[key] = chosen.nonzero()[:, 0].cpu(), row[chosen].double().cpu()
            self._held += int(chosen.sum())


def apart(a: Tensor, b: Tensor, order: float) -> Tensor:
    """The distances of every a and every b: (n, d), (m, d) -> (n, m). By differences: the quick way by inner
    products loses the digits of small distances.
    """
    return torch.cdist(a, b.to(a.dtype), p=order, compute_mode="donot_use_mm_for_euclid_dist")


def _names(clean: Tensor) -> list[bytes]:
    """A short name of every item's content."""
    rows = clean.detach().flatten(1).cpu().contiguous().view(torch.uint8).numpy()
    return [hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in rows]

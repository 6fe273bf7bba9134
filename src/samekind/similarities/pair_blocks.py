"""The pairs network on a CPU: few pairs at a time, so that their hidden layers stay in the cache.

Beside the matrix products, passes over memory cost time. Here there is one pass a layer, the activation in
place: a layer's bias is part of its product (each pair has one more number, always 1, which a LeakyReLU
does not change), and two buffers serve all layers and all blocks.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.similarities.distances import unit_vectors

#: Bytes of both buffers for each thread: they fit the second-level cache of one core beside a layer's weights
#: (measured: half as much costs more calls, twice as much leaves the cache).
CACHE = 2**20

#: Preparing the weights does not pay for fewer pairs.
FEWEST_PAIRS = 2**12

#: The width of blocks, if there are enough columns: their halves then fit the first-level cache.
WIDTH = 32


class _Room(NamedTuple):
    """The buffers of one block and their views, made once: creating views costs time in small blocks."""

    grid: Tensor  # here, as (rows, columns, hidden + 1)
    here: Tensor  # (pairs, hidden + 1), the last number of each pair 1
    here_units: Tensor  # (pairs, hidden), without it
    there: Tensor
    there_units: Tensor
    logits: Tensor  # (pairs,)
    table: Tensor  # the same as (rows, columns)


class PairBlocks:
    """A frozen copy of the network for scores without gradient; later changes of its weights have no effect.

    ``first`` is the layer over both embeddings, of which the first one comes first; ``normalise`` puts them
    on the sphere before.
    """

    def __init__(
        self,
        first: nn.Linear,
        layers: Sequence[nn.Linear],
        last: nn.Linear,
        *,
        slope: float,
        normalise: bool = False,
    ) -> None:
        self.slope = slope
        self.normalise = normalise
        left, right = first.weight.chunk(2, 1)
        # One more unit, 0 on the first side and 1 on the second: the number that is always 1.
        self.left, self.right = F.pad(left, (0, 0, 0, 1)).t(), F.pad(right, (0, 0, 0, 1)).t()
        self.bias = F.pad(first.bias, (0, 1), value=1.0)
        self.layers = [torch.cat([layer.weight, layer.bias[:, None]], 1).t() for layer in layers]
        self.last = torch.cat([last.weight[0], last.bias])
        self.hidden = len(self.last) - 1
        self._buffers = self.last.new_empty(2, 0, self.hidden + 1)
        self._rooms: dict[tuple[int, int], _Room] = {}

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        """Every a against every b: (n, d), (m, d) -> (n, m)."""
        scores = a.new_empty(len(a), len(b))
        if not scores.numel():
            return scores
        if self.normalise:
            a, b = on_sphere(a), on_sphere(b)
        most = max(1, torch.get_num_threads() * CACHE // (2 * self.last.element_size() * self.hidden))
        height, width = shape_of_blocks(len(a), len(b), most)
        down, across = math.ceil(len(a) / height), math.ceil(len(b) / width)
        first, second = torch.mm(a, self.left)[:, None], torch.addmm(self.bias, b, self.right)
        columns = second.chunk(across)
        for rows, strip in zip(first.chunk(down), scores.chunk(down), strict=True):
            for column, block in zip(columns, strip.chunk(across, 1), strict=True):
                self._score(rows, column, block)
        return scores

    def _score(self, rows: Tensor, columns: Tensor, scores: Tensor) -> None:
        """One block, written to ``scores``."""
        grid, here, here_units, there, there_units, logits, table = self._room(len(rows), len(columns))
        torch.add(rows, columns, out=grid)
        F.leaky_relu_(here, self.slope)
        for layer in self.layers:
            torch.mm(here, layer, out=there_units)
            F.leaky_relu_(there, self.slope)
            here, here_units, there, there_units = there, there_units, here, here_units
        torch.mv(here, self.last, out=logits)
        scores.copy_(table)

    def _room(self, rows: int, columns: int) -> _Room:
        """Views of the two buffers, which are reused for all blocks and calls."""
        room = self._rooms.get((rows, columns))
        if room is None:
            pairs = rows * columns
            if pairs > self._buffers.shape[1]:
                self._buffers = self.last.new_ones(2, pairs, self.hidden + 1)
                self._rooms.clear()
            here, there = self._buffers[:, :pairs]
            logits = self.last.new_empty(pairs)
            room = _Room(
                here.view(rows, columns, -1), here, here[:, :-1], there, there[:, :-1], logits,
                logits.view(rows, columns),
            )  # fmt: skip
            self._rooms[rows, columns] = room
        return room


def on_sphere(z: Tensor) -> Tensor:
    """Embeddings (n, d) of length √d, so that the mean square of their numbers is 1; 0 for a zero vector."""
    return unit_vectors(z) * math.sqrt(z.shape[-1])


def shape_of_blocks(rows: int, columns: int, most_pairs: int, *, width: int = WIDTH) -> tuple[int, int]:
    """Height and width of blocks of about equal size, none above ``most_pairs``.

    They are about ``width`` wide, or wider where there are few rows.

    >>> shape_of_blocks(64, 32, 512)
    (16, 32)
    >>> shape_of_blocks(1, 1000, 512)
    (1, 500)
    """
    width = _part(columns, max(min(most_pairs, width), most_pairs // max(1, rows)))
    return _part(rows, max(1, most_pairs // width)), width


def _part(count: int, most: int) -> int:
    """The size of the parts of a count, as few and as equal as possible, none above ``most``."""
    return max(1, math.ceil(count / max(1, math.ceil(count / most))))

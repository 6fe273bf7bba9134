"""The walk over all pairs of a batch by kernels, which write a layer to memory and read it back at most once.

They compute in 16 bits, and what follows a matrix product is done in the same kernel. With PyTorch's own
operations the passes over memory between the products take most of the time, not the products.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.similarities.kernels import on_hopper
from samekind.similarities.kernels import pairs_kernel_layers as kernels
from samekind.similarities.kernels.gpu import current_gpu, multiprocessors, shared_memory
from samekind.similarities.kernels.on_hopper import Dropout
from samekind.similarities.pair_blocks import shape_of_blocks
from samekind.similarities.recomputed_walk import Block, Way, block_after_block, blocks_of

#: The widths that a layer is padded to, and the most units of one program: their weights, and the gradient of
#: these, stay in the shared memory of a Hopper GPU.
WIDTHS = (64, 128, 256)
OUTPUTS = 128
SHARED_BYTES = 224 * 1024
SIDE, PAIRS = int(kernels.SIDE.value), int(kernels.PAIRS.value)
#: Dropout compares 24 random bits.
BITS = 24
WORD = 2**32


class Shape(NamedTuple):
    """How a kernel runs, as measured on an H200: ``stages`` tiles on their way to a program."""

    warps: int = 8
    stages: int = 3
    programs: int = 1  # on a multiprocessor


#: Of kernels that make a tile from both halves, where little is read.
FROM_HALVES = Shape(stages=1)
ASCEND_FROM_HALVES = Shape(warps=4, stages=1, programs=2)


def has_kernels(first: Tensor, depth: int) -> bool:
    """Whether the kernels take all pairs, given one side's half and the number of hidden layers."""
    return (
        depth > 1
        and first.dtype in (torch.bfloat16, torch.float16)
        and first.shape[1] <= max(WIDTHS)
        and shared_memory(first.device) >= SHARED_BYTES
    )


def filled_width(hidden: int) -> int:
    """The width that a layer is padded to.

    >>> filled_width(100)
    128
    """
    return next(width for width in WIDTHS if width >= hidden)


class KernelWalk:
    """One pass over all pairs: the network padded with zeros, and the buffers of a block. If only scores are
    wanted, nothing is stored, and the kernel for Hopper GPUs computes them where it can run.
    """

    def __init__(
        self, way: Way, first: Tensor, second: Tensor, parameters: Sequence[Tensor], *, back: bool
    ) -> None:
        self.way = way
        self.hidden = first.shape[1]
        self.width = filled_width(self.hidden)
        self.outputs = min(OUTPUTS, self.width)
        self.first, self.second = self._filled(first), self._filled(second)
        *layers, last, self.last_bias = parameters
        self.weights = [self._filled(weight.to(first.dtype), rows=True) for weight in layers[::2]]
        self.biases = [self._filled(bias.float()) for bias in layers[1::2]]
        # The factor of dropout, applied once to the weights and not to every pair.
        self.last = self._filled(last[0].float() / (1 - way.dropout))
        self.dropout = _drawn(way, self.width, first.device)
        depth = len(self.weights) + 1
        self.on_chip = not back and on_hopper.takes(
            first.device, hidden=self.width, depth=depth, slope=way.slope
        )
        # In whole tiles: one column takes the space of eight.
        down, across, most = _tiles(len(first)), _tiles(len(second)), max(1, way.block_pairs // PAIRS)
        height, width = shape_of_blocks(down, across, most, width=most)
        self.shape = (height * SIDE, width * SIDE)
        # Forward two in turn; back each layer but the last, its gradient written over it, and the last one's.
        count = depth if back else 0 if self.on_chip else 2
        self.buffers = [first.new_empty(self.shape[0] * self.shape[1], self.width) for _ in range(count)]
        self.multiprocessors = multiprocessors(first.device)

    def blocks(self) -> Iterator[Block]:
        return blocks_of(self.way, self.first, self.second, self.shape)

    def scores(self) -> Tensor:
        """The logits of all pairs (n, m)."""
        if self.on_chip:
            return self._scores_on_chip()
        return block_after_block(self.first, self.second, self.blocks(), self.logits)

    def _scores_on_chip(self) -> Tensor:
        scores = self.last.new_empty(len(self.first), len(self.second))
        if scores.numel():
            weights, biases = on_hopper.in_pieces(torch.stack(self.weights)), torch.stack(self.biases)
            unread = self.dropout.factors
            given = (biases, self.last, scores, *[unread] * 4)
            numbers = (self.way.slope, 0.0, 1.0, 0.0)
            dropout = self.dropout if self.way.dropout else None
            on_hopper.score_tiles(
                self.first, self.second, weights, given, numbers, epilogue="scores", dropout=dropout
            )
        return (scores + self.last_bias).to(self.first.dtype)

    def logits(self, block: Block) -> Tensor:
        """(pairs,)."""
        tiles, top = _Tiles(block), len(self.weights) - 1
        room = [self.buffers[number % 2] for number in range(top + 1)]
        self._ascend(block, tiles, room, keep=False)
        parts = self.last.new_empty(self.width // self.outputs, tiles.pairs)
        self._launch(
            kernels.score, FROM_HALVES if top == 0 else Shape(), tiles,
            *self._layer(block, room, top), self.last, parts, *self._numbers(tiles), *self._dropped(block),
            self.width, self.outputs, top == 0,
        )  # fmt: skip
        return (tiles.opened(parts.sum(0)) + self.last_bias).reshape(-1)

    def add_gradients(self, block: Block, grad: Tensor, totals: Sequence[Tensor | None]) -> None:
        """Add the gradients of one block to the totals of both halves and of every parameter."""
        first, second, *layers, last, last_bias = totals
        tiles, pull = _Tiles(block), grad[block.rows, block.columns].float()
        self._ascend(block, tiles, self.buffers, keep=True)
        bias_sums, last_sums = self._begin_gradients(block, tiles, pull)
        _add(last, last_sums[:, None, : self.hidden] / (1 - self.way.dropout))
        _add(last_bias, pull.flatten()[:, None])
        for number in reversed(range(len(self.weights))):
            _add(layers[2 * number + 1], bias_sums[:, : self.hidden])
            weight_sums, bias_sums = self._descend(number, tiles)
            _add(layers[2 * number], weight_sums[:, : self.hidden, : self.hidden])
        sides = bias_sums[..., : self.hidden]  # (down, across, rows and columns, hidden)
        if first is not None:
            first[block.rows] += sides[:, :, :SIDE].sum(1).flatten(0, 1)[: tiles.rows]
        if second is not None:
            second[block.columns] += sides[:, :, SIDE:].sum(0).flatten(0, 1)[: tiles.columns]

    def _ascend(self, block: Block, tiles: "_Tiles", room: Sequence[Tensor], *, keep: bool) -> None:
        """Fill the buffers in turn with hidden layers, up to the one below the last. The first layer is
        computed together with the second, and written only if ``keep`` is set.
        """
        for number in range(len(self.weights) - 1):
            self._launch(
                kernels.ascend, Shape() if number else ASCEND_FROM_HALVES, tiles,
                *self._layer(block, room, number), room[number + 1], *self._numbers(tiles),
                self.width, self.outputs, number == 0, keep,
            )  # fmt: skip

    def _begin_gradients(self, block: Block, tiles: "_Tiles", pull: Tensor) -> tuple[Tensor, Tensor]:
        """Fill the last buffer with the gradient of the last hidden layer.

        Returned are the sums, by program, that are the gradients of its bias and of the last layer's weights.
        """
        top = len(self.weights) - 1
        shape = Shape() if top else FROM_HALVES
        bias_sums, last_sums = (
            self.last.new_empty(self._programs(shape, tiles), self.width) for _ in range(2)
        )
        self._launch(
            kernels.begin_gradients, shape, tiles, *self._layer(block, self.buffers, top), self.last,
            tiles.closed(pull), self.buffers[top + 1], bias_sums, last_sums, *self._numbers(tiles),
            *self._dropped(block), self.width, self.outputs, top == 0,
        )  # fmt: skip
        return bias_sums, last_sums

    def _descend(self, number: int, tiles: "_Tiles") -> tuple[Tensor, Tensor]:
        """Write the gradient of a layer over its activations.

        Returned are the sums, by program, that are the gradients of the weights above it and of its bias; of
        the lowest layer the second are those of each tile's rows and columns.
        """
        programs = self._programs(Shape(), tiles)
        weight_sums = self.last.new_empty(programs, self.width, self.width)
        sums = self.last.new_empty(programs, self.width) if number else tiles.sides(self.last)
        self._launch(
            kernels.descend, Shape(), tiles, self.buffers[number + 1], self.buffers[number],
            self.weights[number], weight_sums, sums, tiles.count, self.way.slope,
            self.width, self.outputs, number == 0,
        )  # fmt: skip
        return weight_sums, sums

    def _launch(self, kernel: Any, shape: Shape, tiles: "_Tiles", *given: object) -> None:
        grid = (self._programs(shape, tiles), self.width // self.outputs)
        with current_gpu(self.first):
            kernel[grid](*given, num_warps=shape.warps, num_stages=shape.stages)

    def _programs(self, shape: Shape, tiles: "_Tiles") -> int:
        """At most as many as run at a time: programs that share a tile read it while it is in the cache."""
        most = self.multiprocessors * shape.programs * self.outputs // self.width
        return max(1, min(most, tiles.count))

    def _layer(self, block: Block, room: Sequence[Tensor], number: int) -> tuple[Tensor, ...]:
        """The inputs of a layer: the layer below, or both halves, and its weights and bias."""
        halves = self.first[block.rows], self.second[block.columns]
        return room[number], *halves, self.weights[number], self.biases[number]

    def _numbers(self, tiles: "_Tiles") -> tuple[float, ...]:
        return tiles.count, tiles.rows, tiles.columns, self.way.slope

    def _dropped(self, block: Block) -> tuple[Tensor, int, int, int]:
        """The units' numbers, the block's first pair's, how far from one row of pairs to the next, and below
        which number of 24 bits a unit is dropped.
        """
        factors, seed, threshold = self.dropout
        stride = len(self.second)
        return factors, _word(seed + block.rows.start * stride + block.columns.start), stride, threshold

    def _filled(self, x: Tensor, *, rows: bool = False) -> Tensor:
        """A tensor whose last dimension, or last two, are padded to the width with zeros."""
        more = self.width - self.hidden
        return F.pad(x, (0, more, 0, more) if rows else (0, more)).contiguous()


class _Tiles:
    """The tiles of a block: pairs in their order, and in that of rows and columns."""

    def __init__(self, block: Block) -> None:
        self.rows = block.rows.stop - block.rows.start
        self.columns = block.columns.stop - block.columns.start
        self.down, self.across = _tiles(self.rows), _tiles(self.columns)
        self.count = self.down * self.across
        self.pairs = self.count * PAIRS

    def closed(self, numbers: Tensor) -> Tensor:
        """(rows, columns) -> (pairs,), 0 for the padding of a tile."""
        more = (0, self.across * SIDE - self.columns, 0, self.down * SIDE - self.rows)
        tiles = F.pad(numbers, more).view(self.down, SIDE, self.across, SIDE)
        return tiles.transpose(1, 2).reshape(-1)

    def opened(self, numbers: Tensor) -> Tensor:
        """(pairs,) -> (rows, columns)."""
        tiles = numbers.view(self.down, self.across, SIDE, SIDE).transpose(1, 2)
        return tiles.reshape(self.down * SIDE, self.across * SIDE)[: self.rows, : self.columns]

    def sides(self, like: Tensor) -> Tensor:
        """A buffer for the sums of each unit over each row and each column of every tile."""
        return like.new_empty(self.down, self.across, 2 * SIDE, len(like))


def _drawn(way: Way, width: int, device: torch.device) -> Dropout:
    """The numbers of dropout, the same in both passes."""
    draw = torch.Generator(device).manual_seed(way.seed)
    numbers = torch.randint(-WORD // 2, WORD // 2, (width,), dtype=torch.int32, generator=draw, device=device)
    # Odd, so that a product keeps all bits of the pair's number. Those of pairs are one after the other, and
    # in another pass far away.
    return Dropout(numbers | 1, _word(way.seed * 0x9E3779B97F4A7C15 >> 32), round(way.dropout * 2**BITS))


def _word(number: int) -> int:
    """The lowest 32 bits, as a signed number."""
    return (number + WORD // 2) % WORD - WORD // 2


def _add(total: Tensor | None, parts: Tensor) -> None:
    """Add a sum over the first dimension."""
    if total is not None:
        total += parts.sum(0)


def _tiles(count: int) -> int:
    """How many tiles cover so many rows or columns."""
    return -(-count // SIDE)

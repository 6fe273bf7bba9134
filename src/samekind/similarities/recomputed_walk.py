"""All pairs of a batch through the pairs network block by block: scores, and the gradients of a block.

This is the plain walk, by PyTorch's own operations, on any device and in any precision;
`recomputed_kernels` has the one by kernels.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.similarities.pair_blocks import WIDTH, shape_of_blocks


class Way(NamedTuple):
    """The settings of a pass."""

    slope: float
    dropout: float
    seed: int
    block_pairs: int


class Block(NamedTuple):
    """Some rows against some columns, and the seed of their dropout."""

    rows: slice
    columns: slice
    seed: int


def blocks_of(way: Way, first: Tensor, second: Tensor, shape: tuple[int, int]) -> Iterator[Block]:
    """All pairs in blocks of a height and a width; the last ones may be smaller."""
    height, width = shape
    corners = itertools.product(range(0, len(first), height), range(0, len(second), width))
    for number, (top, left) in enumerate(corners):
        rows = slice(top, min(top + height, len(first)))
        columns = slice(left, min(left + width, len(second)))
        yield Block(rows, columns, (way.seed + number) % 2**63)


def block_after_block(
    first: Tensor, second: Tensor, blocks: Iterable[Block], logits: Callable[[Block], Tensor]
) -> Tensor:
    """The scores of all pairs (n, m) in the precision of the halves, from those of each block."""
    scores = first.new_empty(len(first), len(second))
    for block in blocks:
        part = scores[block.rows, block.columns]
        part.copy_(logits(block).view_as(part))
    return scores


class Walk:
    """One pass over all pairs: the network in the precision of the halves, and the buffers of a block."""

    def __init__(
        self, way: Way, first: Tensor, second: Tensor, parameters: Sequence[Tensor], *, back: bool
    ) -> None:
        self.way = way
        self.first, self.second = first, second
        *layers, last, self.last_bias = [tensor.to(first.dtype) for tensor in parameters]
        self.weights, self.biases = layers[::2], layers[1::2]
        # The factor of dropout, applied once to the weights and not to every pair.
        self.last = last[0] / (1 - way.dropout)
        # Narrow on a CPU, for its cache; elsewhere whole rows of scores.
        narrow = WIDTH if first.device.type == "cpu" else way.block_pairs
        self.shape = shape_of_blocks(len(first), len(second), way.block_pairs, width=narrow)
        pairs = self.shape[0] * self.shape[1]
        # Forward, two buffers in turn; backward, one for each layer and one for a gradient.
        count = len(self.weights) + 2 if back else 2
        self.buffers = [first.new_empty(pairs, first.shape[1]) for _ in range(count)]

    def blocks(self) -> Iterator[Block]:
        return blocks_of(self.way, self.first, self.second, self.shape)

    def scores(self) -> Tensor:
        """The logits of all pairs (n, m)."""
        return block_after_block(self.first, self.second, self.blocks(), self.logits)

    def hidden(self, block: Block) -> list[Tensor]:
        """The activations of each hidden layer (pairs, hidden); later ones may overwrite earlier ones."""
        rows, columns = self.first[block.rows], self.second[block.columns]
        pairs = len(rows) * len(columns)
        room = itertools.cycle([buffer[:pairs] for buffer in self.buffers])
        x = next(room)
        torch.add(rows[:, None], columns, out=x.view(len(rows), len(columns), -1))
        layers = [F.leaky_relu_(x, self.way.slope)]
        for weight, bias in zip(self.weights, self.biases, strict=True):
            x = torch.addmm(bias, x, weight.t(), out=next(room))
            layers.append(F.leaky_relu_(x, self.way.slope))
        return layers

    def logits(self, block: Block) -> Tensor:
        """(pairs,)."""
        x = self.hidden(block)[-1]
        if self.way.dropout:
            x.mul_(self._mask(x, block))
        return torch.addmv(self.last_bias, x, self.last)

    def add_gradients(self, block: Block, grad: Tensor, totals: Sequence[Tensor | None]) -> None:
        """Add the gradients of one block to the totals of both halves and of every parameter.

        Each layer's gradient overwrites its activations.
        """
        first, second, *others = totals
        *parameters, last, last_bias = others
        *below, x = self.hidden(block)
        spare = self.buffers[-1][: len(x)]
        pull = grad[block.rows, block.columns].reshape(-1)  # (pairs,)
        mask = self._mask(x, block) if self.way.dropout else None
        if last is not None:
            active = x if mask is None else torch.mul(x, mask, out=spare)
            last[0] += (active.t() @ pull) / (1 - self.way.dropout)
        if last_bias is not None:
            last_bias += pull.sum(dtype=last_bias.dtype)
        torch.mul(pull[:, None], self.last, out=spare)
        if mask is not None:
            spare.mul_(mask)
        x = _through_activation(spare, x, self.way.slope)
        for number in reversed(range(len(below))):
            _add_products(parameters[2 * number], x, below[number])
            _add_sum(parameters[2 * number + 1], x, 0)
            torch.mm(x, self.weights[number], out=spare)
            x = _through_activation(spare, below[number], self.way.slope)
        x = x.view(block.rows.stop - block.rows.start, -1, x.shape[1])
        _add_sum(None if first is None else first[block.rows], x, 1)
        _add_sum(None if second is None else second[block.columns], x, 0)

    def _mask(self, x: Tensor, block: Block) -> Tensor:
        generator = torch.Generator(x.device).manual_seed(block.seed)
        return torch.empty_like(x, dtype=torch.bool).bernoulli_(1 - self.way.dropout, generator=generator)


def _through_activation(grad: Tensor, result: Tensor, slope: float) -> Tensor:
    """The gradient before a LeakyReLU, from the one after it and its result, which is overwritten."""
    torch.ops.aten.leaky_relu_backward.grad_input(grad, result, slope, True, grad_input=result)
    return result


def _add_products(total: Tensor | None, grad: Tensor, x: Tensor) -> None:
    if total is None:
        return
    if total.dtype == x.dtype:
        total.addmm_(grad.t(), x)
    else:
        total.add_(grad.t() @ x)


def _add_sum(total: Tensor | None, grad: Tensor, dim: int) -> None:
    if total is not None:
        total.add_(grad.sum(dim, dtype=total.dtype))

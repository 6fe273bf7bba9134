"""The pairs network's gradient without keeping its hidden layers: backward computes each block's anew.

Autograd keeps every layer of every pair until the backward pass: for all pairs of a batch of 2,048 and four
layers of 256 units tens of GiB. Here the forward pass keeps the two halves of the first layer, one vector an
item, and the backward pass walks the pairs in blocks. Chen et al., "Training Deep Nets with Sublinear Memory
Cost", 2016.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.errors import SettingError
from samekind.similarities.pair_blocks import WIDTH, shape_of_blocks

#: Bytes of the hidden layers of all pairs up to which autograd keeps them. On a processor recomputing takes
#: no longer (measured), as what is kept has to go through its memory; elsewhere a third of the products done
#: again costs more than memory that is there anyway.
KEPT_BYTES = {"cpu": 2**27, "other": 2**30}

#: Bytes of one block's hidden layers and their gradients. On a processor a block stays in its cache; on
#: anything else it has some ten thousand pairs at least, so that the device works longer than it is told to.
BLOCK_BYTES = {"cpu": 8 * 2**20, "other": 2**29}


class _Way(NamedTuple):
    """What a pass knows beside the tensors."""

    slope: float
    dropout: float
    seed: int
    block_pairs: int


class _Block(NamedTuple):
    """Some rows against some columns, and where their dropout is drawn from."""

    rows: slice
    columns: slice
    seed: int


def worth_recomputing(half: Tensor, pairs: int, depth: int) -> bool:
    """Whether autograd should not keep the hidden layers of so many pairs, given one side's half."""
    kept = KEPT_BYTES.get(half.device.type, KEPT_BYTES["other"])
    return pairs * half.shape[1] * depth * half.element_size() > kept


def block_size(half: Tensor, depth: int) -> int:
    """How many pairs a block has, where nobody says: as many as `BLOCK_BYTES` hold, given one side's half."""
    budget = BLOCK_BYTES.get(half.device.type, BLOCK_BYTES["other"])
    # Each hidden layer, one gradient, and dropout's mask, which is no larger.
    return budget // (half.element_size() * half.shape[1] * (depth + 2))


def recomputed_scores(
    first: Tensor,
    second: Tensor,
    layers: Sequence[nn.Linear],
    last: nn.Linear,
    *,
    slope: float,
    dropout: float = 0.0,
    block_pairs: int | None = None,
) -> Tensor:
    """The logits of every pair, from both halves of the first layer: (n, hidden), (m, hidden) -> (n, m).

    Scores and gradients are those of the plain network; memory beyond the scores is that of one block of
    ``block_pairs`` pairs (by default what `BLOCK_BYTES` holds). All is computed in the precision of the
    halves, which under autocast is autocast's, and gradients are summed over blocks in float32 at least.
    Dropout draws a mask for each block from a seed, which both passes use; the seed is drawn from the global
    generator. First derivatives only. ``slope`` must not be negative: backward reads the side of the
    LeakyReLU off the sign of its result.
    """
    if slope < 0:
        raise SettingError(f"recomputing the hidden layers needs a slope of at least 0, got {slope}")
    if block_pairs is None:
        block_pairs = block_size(first, len(layers) + 1)
    seed = int(torch.randint(2**62, ())) if dropout else 0
    way = _Way(slope, dropout, seed, max(1, block_pairs))
    parameters = [each for layer in [*layers, last] for each in (layer.weight, layer.bias)]
    scores: Tensor = _Recomputed.apply(way, first, second, *parameters)  # type: ignore[no-untyped-call]
    return scores


class _Recomputed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, way: _Way, first: Tensor, second: Tensor, *parameters: Tensor) -> Tensor:
        ctx.save_for_backward(first, second, *parameters)
        ctx.way = way
        scores = first.new_empty(len(first), len(second))
        with torch.autocast(first.device.type, enabled=False):
            # Two buffers in turn: a layer is forgotten as soon as the next is there.
            walk = _Walk(way, first, second, parameters, buffers=2)
            for block in walk.blocks():
                part = scores[block.rows, block.columns]
                part.copy_(walk.logits(block).view_as(part))
        return scores

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():
            raise SettingError(
                "the gradient of so many pairs is computed in blocks and cannot be differentiated again; "
                "call backward without create_graph, or score fewer pairs at a time"
            )
        first, second, *parameters = inputs = ctx.saved_tensors
        # Half precision has no room for a sum over millions of pairs.
        totals = [
            torch.zeros_like(each, dtype=torch.promote_types(each.dtype, torch.float32)) if needed else None
            for each, needed in zip(inputs, ctx.needs_input_grad[1:], strict=True)
        ]
        with torch.autocast(first.device.type, enabled=False):
            walk = _Walk(ctx.way, first, second, parameters, buffers=1 + len(parameters) // 2)
            for block in walk.blocks():
                walk.add_gradients(block, grad, totals)
        return None, *(
            None if total is None else total.to(each.dtype)
            for total, each in zip(totals, inputs, strict=True)
        )


class _Walk:
    """One pass over all pairs: the network in the precision of the halves, and the buffers of a block."""

    def __init__(
        self, way: _Way, first: Tensor, second: Tensor, parameters: Sequence[Tensor], *, buffers: int
    ) -> None:
        self.way = way
        self.first, self.second = first, second
        *layers, last, self.last_bias = [each.to(first.dtype) for each in parameters]
        self.weights, self.biases = layers[::2], layers[1::2]
        # What dropout leaves is scaled up to make up for the rest: here, once, and not a pair at a time.
        self.last = last[0] / (1 - way.dropout)
        # On a processor narrow, so that the halves of a block stay near; elsewhere whole rows of scores.
        narrow = {"width": WIDTH} if first.device.type == "cpu" else {"width": way.block_pairs}
        self.height, self.width = shape_of_blocks(len(first), len(second), way.block_pairs, **narrow)
        pairs = self.height * self.width
        self.buffers = [first.new_empty(pairs, first.shape[1]) for _ in range(buffers)]

    def blocks(self) -> Iterator[_Block]:
        tops = range(0, len(self.first), self.height)
        lefts = range(0, len(self.second), self.width)
        for number, (top, left) in enumerate(itertools.product(tops, lefts)):
            bottom = min(top + self.height, len(self.first))
            right = min(left + self.width, len(self.second))
            yield _Block(slice(top, bottom), slice(left, right), (self.way.seed + number) % 2**63)

    def hidden(self, block: _Block) -> list[Tensor]:
        """The activations of each hidden layer (pairs, hidden), as many of them as there are buffers left."""
        rows, columns = self.first[block.rows], self.second[block.columns]
        pairs = len(rows) * len(columns)
        room = itertools.cycle([each[:pairs] for each in self.buffers])
        x = next(room)
        torch.add(rows[:, None], columns, out=x.view(len(rows), len(columns), -1))
        layers = [F.leaky_relu_(x, self.way.slope)]
        for weight, bias in zip(self.weights, self.biases, strict=True):
            x = torch.addmm(bias, x, weight.t(), out=next(room))
            layers.append(F.leaky_relu_(x, self.way.slope))
        return layers

    def logits(self, block: _Block) -> Tensor:
        """(pairs,)."""
        x = self.hidden(block)[-1]
        if self.way.dropout:
            x.mul_(self._mask(x, block))
        return torch.addmv(self.last_bias, x, self.last)

    def add_gradients(self, block: _Block, grad: Tensor, totals: Sequence[Tensor | None]) -> None:
        """Add what one block's pairs give to the totals of both halves and of every parameter.

        Each layer's gradient is written over its activations, which nobody needs afterwards.
        """
        first, second, *others = totals
        *parameters, last, last_bias = others
        *below, x = self.hidden(block)
        spare = self.buffers[-1][: len(x)]
        pull = grad[block.rows, block.columns].reshape(-1)  # (pairs,)
        mask = self._mask(x, block) if self.way.dropout else None
        if last is not None:
            kept = x if mask is None else torch.mul(x, mask, out=spare)
            last[0] += (kept.t() @ pull) / (1 - self.way.dropout)
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

    def _mask(self, x: Tensor, block: _Block) -> Tensor:
        generator = torch.Generator(x.device).manual_seed(block.seed)
        return torch.empty_like(x, dtype=torch.bool).bernoulli_(1 - self.way.dropout, generator=generator)


def _through_activation(grad: Tensor, result: Tensor, slope: float) -> Tensor:
    """The gradient before a LeakyReLU, from the one behind it and its result, over which it is written."""
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

"""The pairs network's gradient without keeping its hidden layers: backward computes each block again.

Autograd keeps every layer of every pair until the backward pass: tens of GiB for all pairs of a batch of
2,048 and four layers of 256 units. Here the forward pass keeps the two halves of the first layer, one
vector an item, and the backward pass walks the pairs in blocks. Chen et al., "Training Deep Nets with
Sublinear Memory Cost", 2016.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from samekind.errors import SettingError
from samekind.similarities.kernels.gpu import has_triton
from samekind.similarities.recomputed_walk import Walk, Way

if TYPE_CHECKING:
    from samekind.similarities.kernels.recomputed_kernels import KernelWalk

#: Up to so many bytes autograd keeps the hidden layers of all pairs. On a CPU recomputing is as fast
#: (measured), because of the memory traffic; elsewhere the products cost more than free memory.
KEPT_BYTES = {"cpu": 2**27, "other": 2**30}

#: Bytes of one block's hidden layers and their gradients. On a CPU a block stays in the cache; on any other
#: device it has at least ten thousand pairs, so that computing takes longer than launching, and more with
#: kernels, which are faster.
BLOCK_BYTES = {"cpu": 8 * 2**20, "kernels": 2**30, "other": 2**29}


def worth_recomputing(half: Tensor, pairs: int, depth: int) -> bool:
    """Whether the hidden layers of so many pairs are too large to keep, given one side's half."""
    limit = KEPT_BYTES.get(half.device.type, KEPT_BYTES["other"])
    return pairs * half.shape[1] * depth * half.element_size() > limit


def block_size(half: Tensor, depth: int) -> int:
    """The default number of pairs in a block: as many as `BLOCK_BYTES` hold, given one side's half."""
    if walk_for(half, depth) is not Walk:
        from samekind.similarities.kernels.recomputed_kernels import filled_width

        return BLOCK_BYTES["kernels"] // (half.element_size() * filled_width(half.shape[1]) * depth)
    # Each hidden layer, one gradient, and at most as much for dropout's mask.
    one = half.element_size() * half.shape[1] * (depth + 2)
    return BLOCK_BYTES.get(half.device.type, BLOCK_BYTES["other"]) // one


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
    ``block_pairs`` pairs (by default what `BLOCK_BYTES` holds). The precision is that of the halves, under
    autocast autocast's; gradients are summed over blocks in float32 at least. Both passes draw dropout from
    one seed, which comes from the global generator. First derivatives only. ``slope`` must not be negative,
    because backward takes the side of a LeakyReLU from the sign of its result.
    """
    if slope < 0:
        raise SettingError(f"recomputing the hidden layers needs a slope of at least 0, got {slope}")
    if block_pairs is None:
        block_pairs = block_size(first, len(layers) + 1)
    seed = int(torch.randint(2**62, ())) if dropout else 0
    way = Way(slope, dropout, seed, max(1, block_pairs))
    parameters = [tensor for layer in [*layers, last] for tensor in (layer.weight, layer.bias)]
    scores: Tensor = _Recomputed.apply(way, first, second, *parameters)  # type: ignore[no-untyped-call]
    return scores


def walk_for(half: Tensor, depth: int) -> "type[Walk] | type[KernelWalk]":
    """The walk by kernels if they take this half and depth, else the plain one."""
    if half.device.type == "cuda" and has_triton():
        from samekind.similarities.kernels.recomputed_kernels import KernelWalk, has_kernels

        if has_kernels(half, depth):
            return KernelWalk
    return Walk


class _Recomputed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, way: Way, first: Tensor, second: Tensor, *parameters: Tensor) -> Tensor:
        ctx.save_for_backward(first, second, *parameters)
        ctx.way, ctx.walk = way, walk_for(first, len(parameters) // 2)
        with torch.autocast(first.device.type, enabled=False):
            scores: Tensor = ctx.walk(way, first, second, parameters, back=False).scores()
        return scores

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():
            raise SettingError(
                "the gradient of so many pairs is computed in blocks and cannot be differentiated again; "
                "call backward without create_graph, or score fewer pairs at a time"
            )
        first, second, *parameters = inputs = ctx.saved_tensors
        # Half precision cannot hold a sum over millions of pairs.
        totals = [
            torch.zeros_like(tensor, dtype=torch.promote_types(tensor.dtype, torch.float32))
            if needed
            else None
            for tensor, needed in zip(inputs, ctx.needs_input_grad[1:], strict=True)
        ]
        with torch.autocast(first.device.type, enabled=False):
            walk = ctx.walk(ctx.way, first, second, parameters, back=True)
            for block in walk.blocks():
                walk.add_gradients(block, grad, totals)
        return None, *(
            None if total is None else total.to(tensor.dtype)
            for total, tensor in zip(totals, inputs, strict=True)
        )

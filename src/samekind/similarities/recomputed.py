"""The pairs network's gradient without keeping its hidden layers: backward computes each block's anew.

Autograd keeps every layer of every pair until the backward pass: for all pairs of a batch of 2,048 and four
layers of 256 units tens of GiB. Here the forward pass keeps the two halves of the first layer, one vector an
item, and the backward pass walks the pairs in blocks. Chen et al., "Training Deep Nets with Sublinear Memory
Cost", 2016.
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

#: Bytes of the hidden layers of all pairs up to which autograd keeps them. On a processor recomputing takes
#: no longer (measured), as what is kept has to go through its memory; elsewhere a third of the products done
#: again costs more than memory that is there anyway.
KEPT_BYTES = {"cpu": 2**27, "other": 2**30}

#: Bytes of one block's hidden layers and their gradients. On a processor a block stays in its cache; on
#: anything else it has some ten thousand pairs at least, so that the device works longer than it is told to,
#: and by kernels more, because those take less time.
BLOCK_BYTES = {"cpu": 8 * 2**20, "kernels": 2**30, "other": 2**29}


def worth_recomputing(half: Tensor, pairs: int, depth: int) -> bool:
    """Whether autograd should not keep the hidden layers of so many pairs, given one side's half."""
    kept = KEPT_BYTES.get(half.device.type, KEPT_BYTES["other"])
    return pairs * half.shape[1] * depth * half.element_size() > kept


def block_size(half: Tensor, depth: int) -> int:
    """How many pairs a block has, where nobody says: as many as `BLOCK_BYTES` hold, given one side's half."""
    if walk_for(half, depth) is not Walk:
        from samekind.similarities.kernels.recomputed_kernels import filled_width

        return BLOCK_BYTES["kernels"] // (half.element_size() * filled_width(half.shape[1]) * depth)
    # Each hidden layer, one gradient, and dropout's mask, which is no larger.
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
    ``block_pairs`` pairs (by default what `BLOCK_BYTES` holds). All is computed in the precision of the
    halves, which under autocast is autocast's, and gradients are summed over blocks in float32 at least.
    Dropout is drawn from a seed, which both passes use and which comes from the global generator. First
    derivatives only. ``slope`` must not be negative: backward reads the side of the LeakyReLU off the sign of
    its result.
    """
    if slope < 0:
        raise SettingError(f"recomputing the hidden layers needs a slope of at least 0, got {slope}")
    if block_pairs is None:
        block_pairs = block_size(first, len(layers) + 1)
    seed = int(torch.randint(2**62, ())) if dropout else 0
    way = Way(slope, dropout, seed, max(1, block_pairs))
    parameters = [each for layer in [*layers, last] for each in (layer.weight, layer.bias)]
    scores: Tensor = _Recomputed.apply(way, first, second, *parameters)  # type: ignore[no-untyped-call]
    return scores


def walk_for(half: Tensor, depth: int) -> "type[Walk] | type[KernelWalk]":
    """By kernels where that goes, else plainly, given one side's half and the number of hidden layers."""
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
        # Half precision has no room for a sum over millions of pairs.
        totals = [
            torch.zeros_like(each, dtype=torch.promote_types(each.dtype, torch.float32)) if needed else None
            for each, needed in zip(inputs, ctx.needs_input_grad[1:], strict=True)
        ]
        with torch.autocast(first.device.type, enabled=False):
            walk = ctx.walk(ctx.way, first, second, parameters, back=True)
            for block in walk.blocks():
                walk.add_gradients(block, grad, totals)
        return None, *(
            None if total is None else total.to(each.dtype)
            for total, each in zip(totals, inputs, strict=True)
        )

"""A network that is not ours, its blocks computed again in the backward pass: slower, and with less memory.

Chen, Xu, Zhang and Guestrin, "Training Deep Nets with Sublinear Memory Cost", 2016. Our own networks are
computed again stage by stage, see `samekind.encoders.stages`.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from samekind.encoders.stages import statistics_kept
from samekind.encoders.standing_in import standing_in


@contextmanager
def recomputing(module: nn.Module, *, wanted: bool) -> Iterator[None]:
    """Within it, what the blocks of a module compute is not kept for the backward pass, but computed anew.

    What lies between blocks is kept. Batch statistics move once. Nothing happens unless it is ``wanted``,
    without gradients, or in a module that is being compiled, where the compiler decides what is kept.
    """
    if not wanted or not torch.is_grad_enabled() or torch.compiler.is_compiling():
        yield
        return
    # For this pass only, so that a copy of the module never has one that speaks of the original.
    with ExitStack() as stack:
        for each in blocks_of(module):
            again = partial(
                checkpoint, each.forward, use_reentrant=False, context_fn=partial(_contexts, each)
            )
            stack.enter_context(standing_in(each, again))
        yield


def blocks_of(module: nn.Module) -> Iterator[nn.Module]:
    """What a network is a row of: its children that have weights, and of lists of layers the members. A child
    that holds most of the network, as the encoder of a transformer does, is looked into.
    """
    for child in module.children():
        if isinstance(child, nn.Sequential | nn.ModuleList):
            yield from (each for each in child.children() if _size(each))
        elif 2 * _size(child) > _size(module) and _has_list(child):
            yield from blocks_of(child)
        elif _size(child):
            yield child


def _contexts(block: nn.Module) -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    return nullcontext(), statistics_kept([block])


def _has_list(module: nn.Module) -> bool:
    return any(isinstance(each, nn.Sequential | nn.ModuleList) for each in module.children())


def _size(module: nn.Module) -> int:
    return sum(each.numel() for each in module.parameters())

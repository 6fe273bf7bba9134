"""The blocks of a foreign network computed again in the backward pass: slower, with less memory.

Chen, Xu, Zhang and Guestrin, "Training Deep Nets with Sublinear Memory Cost", 2016. Our own networks do this
stage by stage, see `samekind.encoders.stages`.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

import torch
from torch import nn

from samekind.encoders.stages import checkpoint_of
from samekind.encoders.standing_in import standing_in


@contextmanager
def recomputing(module: nn.Module, *, active: bool) -> Iterator[None]:
    """Within this context the blocks of a module keep only their inputs for the backward pass.

    Batch statistics are updated once. It does nothing unless ``active``, without gradients, or under a
    compiler, which decides itself what to keep.
    """
    if not active or not torch.is_grad_enabled() or torch.compiler.is_compiling():
        yield
        return
    # For this pass only, so that no copy of the module refers to blocks of the original.
    with ExitStack() as stack:
        for block in blocks_of(module):
            stack.enter_context(standing_in(block, partial(checkpoint_of([block]), block.forward)))
        yield


def blocks_of(module: nn.Module) -> Iterator[nn.Module]:
    """The blocks of a network: its children with weights, and the members of lists of layers. A child that
    holds most of the network, as the encoder of a transformer does, is searched in turn.
    """
    for child in module.children():
        if isinstance(child, nn.Sequential | nn.ModuleList):
            yield from filter(_size, child.children())
        elif 2 * _size(child) > _size(module) and _has_list(child):
            yield from blocks_of(child)
        elif _size(child):
            yield child


def _has_list(module: nn.Module) -> bool:
    return any(isinstance(child, nn.Sequential | nn.ModuleList) for child in module.children())


def _size(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())

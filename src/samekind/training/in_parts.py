"""A batch embedded in parts, so that memory holds one part at a time, with the loss of the whole batch.

Gao, Zhang, Han and Callan, "Scaling Deep Contrastive Learning Batch Size under Memory Limited Setup", 2021:
embeddings of all parts without what their gradient needs, the loss of all pairs, and each part computed again
in the backward pass. Adding up gradients of the parts' own losses would leave out the pairs between parts.
"""

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from samekind.encoders.stages import checkpoint_of

#: Embeddings (n, d), and further outputs by name.
Embedding = tuple[Tensor, Mapping[str, Tensor]]


def in_parts(call: Callable[[Tensor], Embedding], x: Tensor, *, at_once: int, module: nn.Module) -> Embedding:
    """``call(x)`` of items (n, …), with at most ``at_once`` of them in memory; 0 takes all.

    Values and gradients are those of one call, up to rounding, where an item does not depend on the others:
    batch normalisation of ``module`` that is not frozen takes the statistics of each part, which then move
    once for each part. Dropout draws part by part.
    """
    if not at_once or len(x) <= at_once or not torch.is_grad_enabled():
        return call(x)
    # Parts of nearly one size: batch normalisation cannot do with a single item.
    pieces = x.tensor_split(math.ceil(len(x) / at_once))
    parts = [checkpoint_of([module])(call, piece) for piece in pieces]
    outputs = {name: torch.cat([output[name] for _, output in parts]) for name in parts[0][1]}
    return torch.cat([z for z, _ in parts]), outputs

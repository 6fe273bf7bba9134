"""Changes of a training step outside of the optimiser: prototypes, scales and the memory.

A step is `observe`, then `objective.objective` and the optimiser, then `settle`; extras settle after it. No
other module calls the hooks of prototypes and scales.
"""

import torch
from torch import Tensor

from samekind.space import MetricSpace
from samekind.training.context import AGAINST_CLASSES
from samekind.training.memory import Memory
from samekind.training.objective import Value


def observe(space: MetricSpace, z: Tensor, y: Tensor) -> Tensor | None:
    """Move the prototypes by a batch, before its loss. Returns z as the auxiliary head takes it, or None
    without a head: it is projected once for a step, since dropout would draw another projection.
    """
    projected = space.auxiliary.project(z) if space.auxiliary is not None else None
    with torch.no_grad():
        space.prototypes.before_loss(z.detach(), y)
        if space.auxiliary is not None and projected is not None:
            space.auxiliary.prototypes.before_loss(projected.detach(), y)
    return projected


@torch.no_grad()
def settle(space: MetricSpace, z: Tensor, y: Tensor, value: Value, *, memory: Memory | None = None) -> None:
    """After the optimiser's step, move prototypes by the embeddings and scales by the class scores that the
    step began with, and add the embeddings to the memory.
    """
    z = z.detach()
    space.prototypes.after_step(z, y)
    if space.auxiliary is not None and value.projected is not None:
        space.auxiliary.prototypes.after_step(value.projected.detach(), y)
    for against in AGAINST_CLASSES:
        if against in value.candidates:
            candidates = value.candidates[against]
            assert candidates.masks is not None
            candidates.similarity.scale.after_step(candidates.scores.detach(), candidates.masks[0])
    if memory is not None:
        memory.push(z, y)

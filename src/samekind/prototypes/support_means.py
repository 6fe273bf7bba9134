"""Prototypes as the mean embedding of a few examples of each class.

Snell et al., "Prototypical Networks for Few-shot Learning", NeurIPS 2017.
"""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from samekind.prototypes.classes import assign_several, check_pooling, checked_counts, unmoved


class SupportMeans(nn.Module):
    """Vectors that only change when they are assigned: enrolment fills them, training does not.

    With ``count`` above 1 a class has that many vectors (its examples themselves), and ``pooling`` combines
    their scores: ``"max"`` is the nearest-support classifier. In a few-shot task a pooling other than
    ``"mean"`` is enough: each example is a vector of its class, whatever the shot.
    """

    came_later = ("counts",)
    trained = False
    needs_term = False

    def __init__(
        self,
        classes: Sequence[str] = (),
        *,
        dimension: int,
        count: int = 1,
        pooling: Literal["mean", "max", "soft", "sum"] = "mean",
        temperature: float = 0.1,
        counts: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        check_pooling(pooling, count=count, temperature=temperature)
        self.classes, self.counts = list(classes), checked_counts(counts, classes)
        self.dimension = dimension
        self.count = count
        self.pooling: str = pooling
        self.temperature = temperature
        self.vectors: Tensor
        self.register_buffer("vectors", torch.zeros(len(self.classes), count, dimension))

    before_loss = after_step = unmoved
    assign = assign_several

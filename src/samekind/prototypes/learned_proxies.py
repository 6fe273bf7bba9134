"""Prototypes trained by the gradient, like the weight matrix of a classifier."""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import nn

from samekind.prototypes.classes import assign_several, check_pooling, checked_counts, unmoved


class LearnedProxies(nn.Module):
    """``count`` parameters of ``dimension`` numbers for each class, from a Kaiming-normal start.

    With several proxies a class, ``pooling`` says how their scores become one: mean, max, or soft (weighted
    by their own softmax at ``temperature``).
    """

    came_later = ("counts",)
    trained = True
    needs_term = True

    def __init__(
        self,
        classes: Sequence[str],
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
        self.pooling = pooling
        self.temperature = temperature
        start = torch.empty(len(self.classes) * count, dimension)
        if start.numel():
            nn.init.kaiming_normal_(start)
        self.vectors = nn.Parameter(start.view(len(self.classes), count, dimension))

    before_loss = after_step = unmoved
    assign = assign_several

"""Prototypes as running averages of the embeddings of each class, never touched by the gradient.

Monteiro et al., "Learning Semantic Similarities for Prototypical Classifiers", 2021, Algorithm 1.
"""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from samekind.errors import SettingError
from samekind.prototypes.classes import assign_one_each, checked_counts, class_means, unmoved


class RunningAverages(nn.Module):
    """C <- momentum·C + (1 - momentum)·(batch mean), for the classes present, before the loss is computed.

    The vectors are a buffer: they follow the space to its device and into its checkpoint, and the losses
    see them as constants. They start as Gaussian (the paper's text) or uniform in [0, 1) (its authors'
    code), and n updates later momentum**n of that start is still in them: a third after ten. With ``initial``
    "first" no start is left in them: the first batch that has a class sets its vector to the mean of its
    items there. Until then the vector is Gaussian. An assigned class counts as seen.
    """

    came_later = ("counts",)
    trained = True
    needs_term = False
    pooling = "mean"
    temperature = 0.1
    count = 1

    def __init__(
        self,
        classes: Sequence[str],
        *,
        dimension: int,
        momentum: float = 0.9,
        initial: Literal["gaussian", "uniform", "first"] = "gaussian",
        counts: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        if initial not in ("gaussian", "uniform", "first"):
            raise SettingError(f'running averages start "gaussian", "uniform" or "first"; got "{initial}"')
        if not 0 <= momentum <= 1:
            raise SettingError(f"the momentum of running averages is from 0 to 1; got {momentum}")
        self.classes, self.counts = list(classes), checked_counts(counts, classes)
        self.dimension = dimension
        self.momentum = momentum
        self.initial = initial
        draw = torch.rand if initial == "uniform" else torch.randn
        self.vectors: Tensor
        self.register_buffer("vectors", draw(len(self.classes), 1, dimension))
        self.visited: Tensor | None
        # Only with "first": spaces that were saved before this setting existed have no such buffer.
        seen = torch.zeros(len(self.classes), dtype=torch.bool) if initial == "first" else None
        self.register_buffer("visited", seen)

    @torch.no_grad()
    def before_loss(self, z: Tensor, y: Tensor) -> None:
        # In the precision of the averages: sums in half precision lose digits.
        means, present = class_means(z.detach().to(self.vectors.dtype), y, len(self.classes))
        moved = self.momentum * self.vectors[:, 0] + (1 - self.momentum) * means
        if self.visited is not None:
            moved = torch.where(self.visited[:, None], moved, means)
            self.visited |= present
        self.vectors[:, 0] = torch.where(present[:, None], moved, self.vectors[:, 0])

    after_step = unmoved

    def assign(self, classes: Sequence[str], vectors: Tensor, counts: Sequence[int] | None = None) -> None:
        assign_one_each(self, classes, vectors, counts)
        if self.visited is not None:
            self.visited = torch.ones(len(vectors), dtype=torch.bool, device=vectors.device)

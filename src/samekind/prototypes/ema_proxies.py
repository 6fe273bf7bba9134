"""Proxies on the sphere that follow the embeddings of their class at a slow rate, after each step.

Zhe et al., "Directional statistics-based deep metric learning for image classification and retrieval", 2019;
Kim, "On the Significance of Distance in Machine Learning", 2023.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.errors import SettingError
from samekind.prototypes.classes import assign_one_each, checked_counts, class_means, unmoved


class EMAProxies(nn.Module):
    """W <- normalise(rate·mean + (1 - rate)·W) for the classes of the batch, after the optimiser's step.

    ``mean`` is the direction of the mean of the class's normalised embeddings. The first batch that has a
    class sets its proxy to that mean; until then it is a random direction. Like `RunningAverages`, but on the
    sphere, after the step, and without the random start in the average. An assigned class counts as visited.
    Embeddings that cancel out move nothing.
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
        rate: float = 0.001,
        counts: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        if not 0 <= rate <= 1:
            raise SettingError(f"the rate of a moving average is between 0 and 1, got {rate}")
        self.classes, self.counts = list(classes), checked_counts(counts, classes)
        self.dimension = dimension
        self.rate = rate
        self.vectors: Tensor
        self.visited: Tensor
        self.register_buffer("vectors", F.normalize(torch.randn(len(self.classes), 1, dimension), dim=-1))
        self.register_buffer("visited", torch.zeros(len(self.classes), dtype=torch.bool))

    before_loss = unmoved

    @torch.no_grad()
    def after_step(self, z: Tensor, y: Tensor) -> None:
        directions = F.normalize(z.detach().to(self.vectors.dtype), dim=-1)
        means, _ = class_means(directions, y, len(self.classes))
        means = F.normalize(means, dim=-1)
        present = means.any(1)  # the mean of an absent class is 0
        old = self.vectors[:, 0]
        moved = F.normalize(self.rate * means + (1 - self.rate) * F.normalize(old, dim=-1), dim=-1)
        new = torch.where(self.visited[:, None], moved, means)
        self.vectors[:, 0] = torch.where(present[:, None], new, old)
        self.visited |= present

    def assign(self, classes: Sequence[str], vectors: Tensor, counts: Sequence[int] | None = None) -> None:
        assign_one_each(self, classes, vectors, counts)
        self.visited = torch.ones(len(vectors), dtype=torch.bool, device=vectors.device)

"""Proxies that are placed beforehand, for instance by a hierarchy of the classes, and never move.

Kim, "On the Significance of Distance in Machine Learning", 2023.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.prototypes.classes import check_vectors, checked_counts, unmoved


class FixedProxies(nn.Module):
    """Given vectors, one for each class: `assign` fills them, and training moves the embeddings towards them.

    Until they are assigned they are random directions, which in high dimensions are nearly orthogonal. Like
    `LearnedProxies` without the learning; unlike `SupportMeans`, they are not replaced by means of examples
    once training is over.
    """

    came_later = ("counts",)
    trained = True
    needs_term = True
    pooling = "mean"
    temperature = 0.1
    count = 1

    def __init__(
        self, classes: Sequence[str], *, dimension: int, counts: Sequence[int] | None = None
    ) -> None:
        super().__init__()
        self.classes, self.counts = list(classes), checked_counts(counts, classes)
        self.dimension = dimension
        self.vectors: Tensor
        self.register_buffer("vectors", F.normalize(torch.randn(len(self.classes), 1, dimension), dim=-1))

    before_loss = after_step = unmoved

    def assign(self, classes: Sequence[str], vectors: Tensor, counts: Sequence[int] | None = None) -> None:
        """Replace the classes and their vectors, each the mean of ``counts`` (classes,) examples."""
        check_vectors(classes, vectors, dimension=self.dimension, count=1)
        self.counts = checked_counts(counts, classes)
        self.classes, self.vectors = list(classes), vectors.detach().clone()

"""Embeddings of past batches as further candidates: a queue, the oldest out first.

Wang et al., "Cross-Batch Memory for Embedding Learning", CVPR 2020. It belongs to a run and its checkpoint,
not to the space.
"""

import torch
from torch import Tensor, nn


class Memory(nn.Module):
    """The last ``size`` embeddings and their labels, without gradient, on the device of the space."""

    def __init__(self, *, size: int, dimension: int) -> None:
        super().__init__()
        self.size = size
        self.dimension = dimension
        self.vectors: Tensor
        self.labels: Tensor
        self.register_buffer("vectors", torch.zeros(size, dimension))
        self.register_buffer("labels", torch.full((size,), -1))  # -1: not yet filled
        self.filled = 0  # counting on a GPU would make it wait
        self.register_load_state_dict_post_hook(_count)  # type: ignore[no-untyped-call]

    def content(self) -> tuple[Tensor, Tensor]:
        """The embeddings and labels, newest first: (m, d) and (m,), m at most ``size``."""
        return self.vectors[: self.filled], self.labels[: self.filled]

    @torch.no_grad()
    def push(self, z: Tensor, y: Tensor) -> None:
        """Add a batch; the oldest embeddings drop out."""
        vectors = torch.cat([z.detach().to(self.vectors.dtype), self.vectors])
        labels = torch.cat([y, self.labels])
        self.vectors, self.labels = vectors[: self.size].clone(), labels[: self.size].clone()
        self.filled = min(self.size, self.filled + len(y))


def _count(memory: nn.Module, _: object) -> None:
    """How much of a memory that was loaded is filled."""
    assert isinstance(memory, Memory)
    memory.filled = int((memory.labels >= 0).sum())

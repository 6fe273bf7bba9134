"""Cosine: the angle between two embeddings, whatever their lengths."""

import torch.nn.functional as F
from torch import Tensor, nn

from samekind.similarities.scale import FixedScale, Scale


class Cosine(nn.Module):
    """Inner product of the normalised embeddings, in [-1, 1]; a zero vector scores 0 with everything."""

    kind = "cosine"
    symmetric = True

    def __init__(self, *, scale: Scale | None = None) -> None:
        super().__init__()
        self.scale = scale or FixedScale()

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return (F.normalize(a, dim=-1) * F.normalize(b, dim=-1)).sum(-1)

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        return F.normalize(a, dim=-1) @ F.normalize(b, dim=-1).T

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (one score a pair, whatever the dimension)
        return 4

"""Cosine: the angle between two embeddings, independent of their lengths."""

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor, nn

from samekind.similarities.blocks import Scorer, Side
from samekind.similarities.distances import unit_vectors
from samekind.similarities.scale import FixedScale, Scale


class Cosine(nn.Module):
    """Inner product of the normalised embeddings, in [-1, 1]; a zero vector scores 0 with everything."""

    quantity = "cosine"
    symmetric = True
    chords = False

    def __init__(self, *, scale: Scale | None = None) -> None:
        super().__init__()
        self.scale = scale or FixedScale()

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return (unit_vectors(a) * unit_vectors(b)).sum(-1)

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        return unit_vectors(a) @ unit_vectors(b).T

    def mapped(self, z: Tensor, side: Side = "first") -> Tensor:  # noqa: ARG002 (both sides are alike)
        """Vectors (n, d) whose inner products are the scores: of length 1."""
        return unit_vectors(z)

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (one score a pair, whatever the dimension)
        return 4


class BesideCosine(NamedTuple):
    """Scores of blocks, each combined with the cosine of its pair."""

    scorer: Scorer
    cosine: Cosine
    together: Callable[[Tensor, Tensor], Tensor]  # scores, cosines -> scores

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        """Every a against every b: (n, d), (m, d) -> (n, m)."""
        return self.together(self.scorer.score_all(a, b), self.cosine.score_all(a, b))

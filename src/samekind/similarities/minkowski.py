"""Minkowski (Lp) distances turned into scores: (Σ |a - b|ᵖ)^(1/p), negated."""

import math

import torch
from torch import Tensor, nn

from samekind.errors import SettingError
from samekind.similarities.distances import exact
from samekind.similarities.scale import FixedScale, Scale


class Minkowski(nn.Module):
    """The negative Lp distance, at most 0; its gradient where two items meet is 0.

    ``p`` is 1 for the sum of absolute differences and 2 for `Euclidean`, which is faster; the larger it is,
    the more the largest difference counts. ``normalise`` puts the embeddings on the sphere first.
    `score_all` has first derivatives only; PyTorch refuses second ones.
    """

    kind = "negative distance"
    symmetric = True

    def __init__(self, *, p: float = 1.0, normalise: bool = False, scale: Scale | None = None) -> None:
        super().__init__()
        if not 1 <= p < math.inf:
            raise SettingError(f"p of a Minkowski distance is a finite number from 1 up; got {p}")
        self.p = p
        self.normalise = normalise
        self.scale = scale or FixedScale()

    @property
    def chords(self) -> bool:
        """Whether it is the Euclidean distance of points on the sphere."""
        return self.normalise and self.p == 2

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        differences = exact(a, self.normalise) - exact(b, self.normalise)
        distances: Tensor = torch.linalg.vector_norm(differences, ord=self.p, dim=-1)
        return -distances.to(a.dtype)

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        # The fast way for p = 2 cancels where items are close.
        mode = "donot_use_mm_for_euclid_dist"
        distances = torch.cdist(exact(a, self.normalise), exact(b, self.normalise), self.p, compute_mode=mode)
        return -distances.to(a.dtype)

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (two numbers a pair, whatever the dimension)
        return 8

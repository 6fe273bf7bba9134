"""Distances turned into scores: -d, -d² and -ln d.

Softmax over them gives the distance, squared-distance and distance-ratio (DR) classifiers; for DR the scale
is the exponent of the ratio. Kim, "On the Significance of Distance in Machine Learning", 2023.

With ``normalise`` the embeddings are put on the sphere first, and d is the chord between them.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.similarities.scale import FixedScale, Scale


class Euclidean(nn.Module):
    """The negative Euclidean distance, at most 0; its gradient where two items meet is 0."""

    kind = "negative distance"

    def __init__(self, *, normalise: bool = False, scale: Scale | None = None) -> None:
        super().__init__()
        self.normalise = normalise
        self.scale = scale or FixedScale()

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return -paired(a, b, self.normalise).to(a.dtype)

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        return -crossed(a, b, self.normalise).to(a.dtype)

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (two numbers a pair, whatever the dimension)
        return 8


class SquaredEuclidean(nn.Module):
    """The negative squared Euclidean distance, at most 0."""

    kind = "negative distance"

    def __init__(self, *, normalise: bool = False, scale: Scale | None = None) -> None:
        super().__init__()
        self.normalise = normalise
        self.scale = scale or FixedScale()

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return -paired(a, b, self.normalise).square().to(a.dtype)

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        return -crossed(a, b, self.normalise).square().to(a.dtype)

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (two numbers a pair, whatever the dimension)
        return 8


class LogDistance(nn.Module):
    """-ln d, as -½ ln(d² + epsilon): where two items meet the score is -½ ln(epsilon), its gradient 0."""

    kind = "log-distance"

    def __init__(
        self, *, normalise: bool = False, epsilon: float = 1e-10, scale: Scale | None = None
    ) -> None:
        super().__init__()
        self.normalise = normalise
        self.epsilon = epsilon
        self.scale = scale or FixedScale()

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return self._score(paired(a, b, self.normalise)).to(a.dtype)

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        return self._score(crossed(a, b, self.normalise)).to(a.dtype)

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (two numbers a pair, whatever the dimension)
        return 8

    def _score(self, distances: Tensor) -> Tensor:
        return -0.5 * (distances.square() + self.epsilon).log()


def paired(a: Tensor, b: Tensor, normalise: bool) -> Tensor:
    """The distance of each a and its b: (n, d), (n, d) -> (n,)."""
    distances: Tensor = torch.linalg.vector_norm(exact(a, normalise) - exact(b, normalise), dim=-1)
    return distances


def crossed(a: Tensor, b: Tensor, normalise: bool) -> Tensor:
    """Every distance by differences, not by the expanded square, which loses half the digits near zero."""
    distances: Tensor = torch.cdist(
        exact(a, normalise), exact(b, normalise), compute_mode="donot_use_mm_for_euclid_dist"
    )
    return distances


def exact(z: Tensor, normalise: bool) -> Tensor:
    """In float32 at least: half precision has no digits for a small distance, and no room for epsilon."""
    z = z.to(torch.promote_types(z.dtype, torch.float32))
    return F.normalize(z, dim=-1) if normalise else z

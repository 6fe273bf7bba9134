"""Distances turned into scores: -d, -d² and -ln d.

Softmax over them gives the distance, squared-distance and distance-ratio (DR) classifiers; for DR the scale
is the exponent of the ratio. Kim, "On the Significance of Distance in Machine Learning", 2023.

With ``normalise`` the embeddings are put on the sphere first, and d is the chord between them.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.errors import SettingError
from samekind.similarities.scale import FixedScale, Scale
from samekind.similarities.squares import square_root, squared_distances
from samekind.similarities.transforms import transforming
from samekind.tracing import exporting


class Euclidean(nn.Module):
    """The negative Euclidean distance, at most 0; its gradient where two items meet is 0."""

    quantity = "negative distance"
    symmetric = True

    def __init__(self, *, normalise: bool = False, scale: Scale | None = None) -> None:
        super().__init__()
        self.normalise = normalise
        self.scale = scale or FixedScale()

    @property
    def chords(self) -> bool:
        """Whether the embeddings are put on the sphere first."""
        return self.normalise

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return -paired(a, b, self.normalise).to(a.dtype)

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        return -crossed(a, b, self.normalise).to(a.dtype)

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (two numbers a pair, whatever the dimension)
        return 8


class SquaredEuclidean(nn.Module):
    """The negative squared Euclidean distance, at most 0."""

    quantity = "negative distance"
    symmetric = True
    chords = False  # squares of them

    def __init__(self, *, normalise: bool = False, scale: Scale | None = None) -> None:
        super().__init__()
        self.normalise = normalise
        self.scale = scale or FixedScale()

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return -(exact(a, self.normalise) - exact(b, self.normalise)).square().sum(-1).to(a.dtype)

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        return -squared_distances(exact(a, self.normalise), exact(b, self.normalise)).to(a.dtype)

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (two numbers a pair, whatever the dimension)
        return 8


class LogDistance(nn.Module):
    """-ln d, as -½ ln(d² + epsilon): where two items meet the score is -½ ln(epsilon), its gradient 0."""

    quantity = "log-distance"
    symmetric = True

    def __init__(
        self, *, normalise: bool = False, epsilon: float = 1e-10, scale: Scale | None = None
    ) -> None:
        super().__init__()
        check_epsilon(epsilon)
        self.normalise = normalise
        self.epsilon = epsilon
        self.scale = scale or FixedScale()

    @property
    def chords(self) -> bool:
        """Whether the embeddings are put on the sphere first."""
        return self.normalise

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        squares = (exact(a, self.normalise) - exact(b, self.normalise)).square().sum(-1)
        return self._score(squares).to(a.dtype)

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        squares = squared_distances(exact(a, self.normalise), exact(b, self.normalise))
        return self._score(squares).to(a.dtype)

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (two numbers a pair, whatever the dimension)
        return 8

    def _score(self, squares: Tensor) -> Tensor:
        return -0.5 * (squares + self.epsilon).log()


def check_epsilon(epsilon: float) -> None:
    """Raises SettingError unless epsilon is 0 or more; with 0, a distance of 0 scores infinity."""
    if not (epsilon >= 0 and math.isfinite(epsilon)):
        raise SettingError(f"epsilon is added to the square of a distance, a number from 0 up; got {epsilon}")


def paired(a: Tensor, b: Tensor, normalise: bool) -> Tensor:
    """The distance of each a and its b: (n, d), (n, d) -> (n,)."""
    distances: Tensor = torch.linalg.vector_norm(exact(a, normalise) - exact(b, normalise), dim=-1)
    return distances


def crossed(a: Tensor, b: Tensor, normalise: bool) -> Tensor:
    """The distance of every a and every b: (n, d), (m, d) -> (n, m)."""
    first = exact(a, normalise)
    return square_root(squared_distances(first, first if b is a else exact(b, normalise)))


def exact(z: Tensor, normalise: bool) -> Tensor:
    """In float32 at least: half precision can hold neither small distances nor epsilon."""
    z = z.to(torch.promote_types(z.dtype, torch.float32))
    return _normalised(z) if normalise else z


def unit_vectors(z: Tensor) -> Tensor:
    """Embeddings (n, d) of length 1, in their dtype; a zero vector stays 0, in float16 too."""
    return exact(z, normalise=True).to(z.dtype)


def _normalised(z: Tensor) -> Tensor:
    """Vectors of length 1 of vectors of any length but 0.

    The squares of very short or long vectors leave the range of numbers. On a CPU these are looked for, as a
    look costs little; elsewhere all are scaled, as a look would make the device wait, and a transform of
    `torch.func` allows none.
    """
    if z.device.type == "cpu" and not (torch.compiler.is_compiling() or transforming()):
        lengths: Tensor = torch.linalg.vector_norm(z, dim=-1, keepdim=True)
        numbers, known = torch.finfo(z.dtype), lengths.detach()
        if ((known > numbers.tiny**0.5 / numbers.eps) & (known < numbers.max**0.5 / 2)).all():
            return z / lengths
    if exporting():  # ONNX has no exponents; a division rounds a little more
        return F.normalize(z / z.abs().amax(-1, keepdim=True).clamp(min=torch.finfo(z.dtype).tiny), dim=-1)
    return F.normalize(z * _power_of_two(z.detach()), dim=-1)


def _power_of_two(z: Tensor) -> Tensor:
    """The power of two that brings the largest number of each vector near 1, which rounds nothing: (n, 1)."""
    largest = z.abs().amax(-1, keepdim=True) if z.shape[-1] else z.sum(-1, keepdim=True)
    limit = int(math.log2(torch.finfo(z.dtype).max))
    exponent = largest.frexp().exponent.clamp(1 - limit, limit - 1)
    return torch.ldexp(torch.ones_like(largest), -exponent)

"""Two-covariance PLDA: how much likelier two items are if they are of one class than of two.

An item is the mean of its class plus noise; the mean of a class and the noise are Gaussian, each with a
covariance of its own. Brümmer and de Villiers, "The Speaker Partitioning Problem", Odyssey 2010; with its
relatives in Sizov, Lee and Kinnunen, "Unifying Probabilistic Linear Discriminant Analysis Variants in
Biometric Authentication", S+SSPR 2014.
"""

from typing import Literal, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.errors import SettingError
from samekind.similarities.blocks import Side, Similarity
from samekind.similarities.covariances import (
    ClassStatistics,
    class_statistics,
    diagonalised,
    discriminants,
    most_likely,
    shrunk,
)
from samekind.similarities.distances import exact
from samekind.similarities.dot import Dot
from samekind.similarities.scale import FixedScale, Scale

#: The least part of a covariance that is replaced by its mean diagonal: without any it may have no inverse.
LEAST_SHRINKAGE = 1e-6
#: The least variance between classes, as a part of that within: a direction without any does not count.
LEAST_SPREAD = 1e-6


class TwoCovariance(nn.Module):
    """ln p(a, b | one class) - ln p(a, b | two classes): above 0, one class is likelier.

    Embeddings are centred; with a ``rank`` projected to so many dimensions, in which the classes differ most
    (linear discriminant analysis); with ``normalise`` put on the sphere. `fit` then estimates the covariances
    within and between classes, by their moments or (``method="likelihood"``) by ``iterations`` steps of
    expectation maximisation, and replaces a share, the ``shrinkage``, of each by its mean diagonal. The steps
    begin at the moments; Kaldi's begin at identities, and it scales each vector by its own likelihood instead
    of putting it on the sphere.

    It knows how many examples a prototype is the mean of: see `enrolled`.
    """

    quantity = "logit"
    symmetric = True
    chords = False

    def __init__(
        self,
        *,
        dimension: int,
        rank: int | None = None,
        shrinkage: float = 0.8,
        normalise: bool = False,
        method: Literal["moments", "likelihood"] = "moments",
        iterations: int = 10,
        scale: Scale | None = None,
    ) -> None:
        super().__init__()
        if rank is not None and not 1 <= rank <= dimension:
            raise SettingError(f"the rank must be from 1 to the dimension, {dimension}; got {rank}")
        if not 0 <= shrinkage <= 1:
            raise SettingError(f"the shrinkage is a share of the covariance, from 0 to 1; got {shrinkage}")
        if iterations < 1:
            raise SettingError(f"expected at least one iteration, got {iterations}")
        self.dimension = dimension
        self.rank = rank
        self.shrinkage = shrinkage
        self.normalise = normalise
        self.method = method
        self.iterations = iterations
        self.scale = scale or FixedScale()
        inner = rank or dimension
        self.mean: Tensor
        self.projection: Tensor | None
        self.offset: Tensor
        self.map: Tensor
        self.spread: Tensor
        self.share: Tensor
        self.register_buffer("mean", torch.zeros(dimension))
        self.register_buffer("projection", torch.eye(inner, dimension) if rank is not None else None)
        self.register_buffer("offset", torch.zeros(inner))
        self.register_buffer("map", torch.eye(inner))  # the covariance within becomes I,
        self.register_buffer("spread", torch.ones(inner))  # and that between has this diagonal
        self.register_buffer("share", torch.tensor(0.5))  # of all variance that is between classes

    def fit(self, z: Tensor, labels: Tensor) -> Self:
        """Fit the model to embeddings (n, d) with labels (n,), and return this.

        Raises DataError if there is nothing to fit to, or if there are no more classes than the ``rank``. In
        more than a thousand dimensions the likelihood takes a minute; a ``rank`` makes it quick.
        """
        return self.estimate(self.observe(z, labels))

    def observe(self, z: Tensor, labels: Tensor) -> ClassStatistics:
        """The first half of `fit`: sets the mean and the projection, and returns what `estimate` takes.

        Without a rank no shrinkage changes it.
        """
        z = z.detach().double()
        statistics = class_statistics(z, labels)
        self.mean = statistics.mean.to(self.mean)
        z = z - statistics.mean
        if self.projection is not None:
            share = max(self.shrinkage, LEAST_SHRINKAGE)
            projection = discriminants(statistics, _regular(statistics.within, share), len(self.projection))
            self.projection = projection.to(self.projection)
            z = z @ projection.T
        if not (self.normalise or self.rank):
            return statistics._replace(means=statistics.means - statistics.mean)
        return class_statistics(F.normalize(z, dim=1) if self.normalise else z, labels)

    def estimate(self, statistics: ClassStatistics) -> Self:
        """The second half of `fit`."""
        within, between = statistics.within, statistics.between
        if self.method == "likelihood":
            start = _regular(within, LEAST_SHRINKAGE), shrunk(between, LEAST_SHRINKAGE)
            within, between = most_likely(statistics, *start, iterations=self.iterations)
        share = max(self.shrinkage, LEAST_SHRINKAGE)
        return self.assume(statistics.mean, _regular(within, share), shrunk(between, share))

    def assume(self, mean: Tensor, within: Tensor, between: Tensor) -> Self:
        """Take this mean (rank,) and these covariances (rank, rank) of `inner` vectors, and return this."""
        basis, spread = diagonalised(within, between)
        self.offset, self.map = mean.to(self.offset), basis.T.to(self.map)
        self.spread = spread.clamp(min=LEAST_SPREAD).to(self.spread)
        self.share = (between.trace() / (between.trace() + within.trace())).to(self.share)
        return self

    def covariances(self) -> tuple[Tensor, Tensor]:
        """The covariances (rank, rank) of `inner` vectors within and between classes, in float64."""
        back = torch.linalg.inv(self.map.double())
        return back.T @ back, back.T @ (self.spread.double()[:, None] * back)

    def inner(self, z: Tensor) -> Tensor:
        """Embeddings (n, d) as the model sees them (n, rank): centred, projected, on the sphere."""
        z = exact(z, normalise=False)
        z = z - self.mean.to(z.dtype)
        if self.projection is not None:
            z = F.linear(z, self.projection.to(z.dtype))
        return F.normalize(z, dim=-1) if self.normalise else z

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        # By differences, which lose no digits where the two are near.
        one, other = self._transformed(a), self._transformed(b)
        product, square, constant = self._weights(one)
        apart = (square * (one - other).square()).sum(-1)
        return (((product - square) * one * other).sum(-1) - apart / 2 + constant).to(a.dtype)

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        return (self.mapped(a, "first") @ self.mapped(b, "second").T).to(a.dtype)

    def mapped(self, z: Tensor, side: Side = "first") -> Tensor:
        """Vectors (n, rank + 2), in float32 at least, whose inner products are the scores."""
        z = self._transformed(z)
        product, square, constant = self._weights(z)
        own = (constant - (square * z.square()).sum(-1, keepdim=True)) / 2
        one = torch.ones_like(own)
        return torch.cat([product.sqrt() * z, *((own, one) if side == "first" else (one, own))], dim=-1)

    def enrolled(self, a: Tensor, b: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors (n, 2 rank + 1) and (m, 2 rank + 1) whose inner products are the scores of enrolments and
        items: each a is the mean of ``counts`` (n,) items of a class, 0 for very many.

        With one example everywhere they are the scores of `score_all`.
        """
        rarity = torch.where(counts > 0, counts.clamp(min=1).reciprocal(), 0.0).to(a.device)[:, None]
        one, other = self._transformed(a, rarity), self._transformed(b)
        spread, rarity = self.spread.to(one.dtype), rarity.to(one.dtype)
        # An item of the class has the mean gain · one and this variance; one of any class 0 and `total`.
        gain, total = spread / (spread + rarity), 1 + spread
        variance = 1 + spread * rarity / (spread + rarity)
        own = (total / variance).log() - gain.square() / variance * one.square()
        bend = (1 / total - 1 / variance) / 2
        first = torch.cat([gain / variance * one, bend, own.sum(-1, keepdim=True) / 2], dim=-1)
        return first, torch.cat([other, other.square(), torch.ones_like(other[:, :1])], dim=-1)

    def prepared(self, a: Tensor, b: Tensor) -> tuple[Similarity, Tensor, Tensor]:
        """The scorer of the blocks of a and b, and its inputs in their place: each item is mapped once."""
        return Dot(), self.mapped(a, "first"), self.mapped(b, "second")

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (one score a pair, whatever the dimension)
        return 4

    def _weights(self, z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The weights in the score of a pair: of the product of the two numbers, of their squares, and a
        constant.
        """
        spread = self.spread.to(z.dtype)
        product, total = spread / (1 + 2 * spread), 1 + spread
        return product, product * spread / total, (total.log() - (1 + 2 * spread).log() / 2).sum()

    def _transformed(self, z: Tensor, rarity: Tensor | None = None) -> Tensor:
        """Embeddings in the basis of the model. A mean of n items is as long as such a mean is expected to
        be, if lengths are normalised; ``rarity`` is 1 / n.
        """
        z = self.inner(z)
        if self.normalise and rarity is not None:
            share = self.share.to(z.dtype)
            z = z * (share + (1 - share) * rarity.to(z.dtype)).sqrt()
        return (z - self.offset.to(z.dtype)) @ self.map.to(z.dtype)


def _regular(within: Tensor, share: float) -> Tensor:
    """The covariance within the classes, shrunk; where their items do not differ at all, a small one."""
    least = torch.finfo(torch.float32).eps
    return shrunk(within, share) if within.any() else least * torch.eye(len(within)).to(within)

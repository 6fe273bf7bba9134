"""Within-class covariance normalisation (WCCN): the cosine, where a direction in which the items of a class
differ counts less.

Hatch, Kajarekar and Stolcke, "Within-class Covariance Normalization for SVM-based Speaker Recognition",
Interspeech 2006.
"""

import math
from typing import Self

import torch
from torch import Tensor, nn

from samekind.errors import SettingError
from samekind.similarities.blocks import Side, Similarity
from samekind.similarities.covariances import ClassStatistics, class_statistics, lower_root
from samekind.similarities.distances import exact, unit_vectors
from samekind.similarities.dot import Dot
from samekind.similarities.scale import FixedScale, Scale


class WithinClass(nn.Module):
    """The cosine of mapped embeddings (z - mean) W, with W Wᵀ = (S + shrinkage · mean diagonal of S · I)⁻¹,
    where S is the covariance within the classes.

    `fit` finds the mean and the map; before, this is the cosine. The higher the ``shrinkage``, the nearer it
    is to the cosine. ``normalise`` puts the embeddings on the sphere first; without ``centre`` the mean stays
    0. It needs tens of classes, not hundreds, and works on classes that it was not fitted to.
    """

    quantity = "cosine"
    symmetric = True
    chords = False

    def __init__(
        self,
        *,
        dimension: int,
        shrinkage: float = 3.0,
        normalise: bool = False,
        centre: bool = False,
        scale: Scale | None = None,
    ) -> None:
        super().__init__()
        if not (shrinkage >= 0 and math.isfinite(shrinkage)):
            raise SettingError(f"a shrinkage is a number from 0 up; got {shrinkage}")
        self.dimension = dimension
        self.shrinkage = shrinkage
        self.normalise = normalise
        self.centre = centre
        self.scale = scale or FixedScale()
        self.mean: Tensor
        self.map: Tensor
        self.register_buffer("mean", torch.zeros(dimension))
        self.register_buffer("map", torch.eye(dimension))

    def fit(self, z: Tensor, labels: Tensor) -> Self:
        """Fit the mean and the map to embeddings (n, d) with labels (n,), and return this.

        Raises DataError if there is nothing to fit to, and SettingError without shrinkage if there are too
        few items.
        """
        return self.estimate(self.observe(z, labels))

    def observe(self, z: Tensor, labels: Tensor) -> ClassStatistics:
        """The first half of `fit`, which no shrinkage changes: the statistics that `estimate` takes."""
        return class_statistics(exact(z.double(), self.normalise), labels)

    def estimate(self, statistics: ClassStatistics) -> Self:
        """The second half of `fit`."""
        within = statistics.within
        diagonal, identity = within.diagonal().mean(), torch.eye(len(within)).to(within)
        # Items without any difference within their classes say nothing: the map stays the identity.
        root = lower_root(within + self.shrinkage * diagonal * identity) if within.any() else identity
        inverse = torch.linalg.solve_triangular(root, identity, upper=False).T
        # No length counts, so one is chosen that keeps the numbers near those of the embeddings.
        self.map = (inverse * (diagonal.sqrt() if within.any() else 1)).to(self.map)
        self.mean = (statistics.mean if self.centre else torch.zeros_like(statistics.mean)).to(self.mean)
        return self

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return (self.mapped(a) * self.mapped(b)).sum(-1).to(a.dtype)

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        return (self.mapped(a) @ self.mapped(b).T).to(a.dtype)

    def mapped(self, z: Tensor, side: Side = "first") -> Tensor:  # noqa: ARG002 (both sides are alike)
        """Vectors (n, d), in float32 at least, whose inner products are the scores; of length 1."""
        z = exact(z, self.normalise)
        return unit_vectors((z - self.mean.to(z.dtype)) @ self.map.to(z.dtype))

    def prepared(self, a: Tensor, b: Tensor) -> tuple[Similarity, Tensor, Tensor]:
        """The scorer of the blocks of a and b, and its inputs in their place: each item is mapped once."""
        return Dot(), self.mapped(a, "first"), self.mapped(b, "second")

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (one score a pair, whatever the dimension)
        return 4

"""How embeddings vary within classes and between them, for similarities that are fitted to both.

All of it is in float64: covariances of a thousand numbers lose digits in float32. Fewer items than dimensions
are common, so that a covariance may have no inverse; `shrunk` gives it one.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.errors import DataError, SettingError


class ClassStatistics(NamedTuple):
    """Statistics of labelled embeddings: K classes in d dimensions."""

    sizes: Tensor  # (K,), the number of items of each class
    means: Tensor  # (K, d), of each class
    scatter: Tensor  # (d, d), the sum of squares of items around the mean of their class

    @property
    def mean(self) -> Tensor:
        """The mean of the class means (d,): a class counts once, however many items it has."""
        return self.means.mean(0)

    @property
    def within(self) -> Tensor:
        """The covariance of items around the mean of their class (d, d), pooled over all classes."""
        return self.scatter / (self.sizes - 1).sum()

    @property
    def between(self) -> Tensor:
        """The covariance of the true class means (d, d): that of the measured means, less the part that comes
        from the noise of items. It may have negative eigenvalues.
        """
        centred = self.means - self.mean
        measured = centred.T @ centred / len(self.means)
        true = measured - self.within * self.sizes.reciprocal().mean()
        # If class means differ no more than the noise of their items explains, only the measured means are
        # left.
        return true if true.trace() > 0 else measured


def class_statistics(z: Tensor, labels: Tensor) -> ClassStatistics:
    """The statistics of embeddings (n, d) with labels (n,), any whole numbers.

    Raises DataError without a class of two items, with fewer than two classes, or for embeddings that are
    not finite.
    """
    if z.ndim != 2 or labels.shape != z.shape[:1]:
        raise DataError(
            f"expected embeddings (n, d) and labels (n,), got {tuple(z.shape)} and {tuple(labels.shape)}"
        )
    if not z.isfinite().all():
        raise DataError("an embedding is not finite; look at the items it came from")
    _, places = torch.unique(labels.to(z.device), return_inverse=True)
    sizes = torch.bincount(places).to(torch.float64)
    if len(sizes) < 2 or not (sizes > 1).any():
        raise DataError(
            "a similarity is fitted to two classes or more, one of them with two items; "
            f"got {len(z)} items of {len(sizes)} classes"
        )
    z = z.detach().double()
    means = z.new_zeros(len(sizes), z.shape[1]).index_add_(0, places, z) / sizes[:, None]
    around = z - means[places]
    return ClassStatistics(sizes, means, around.T @ around)


def shrunk(covariance: Tensor, share: float) -> Tensor:
    """A covariance (d, d) with a ``share`` of it replaced by its mean diagonal."""
    diagonal = covariance.diagonal().mean()
    return (1 - share) * covariance + share * diagonal * torch.eye(len(covariance)).to(covariance)


def lower_root(covariance: Tensor) -> Tensor:
    """The lower triangle L (d, d) with L Lᵀ the covariance. Raises SettingError if there is none."""
    root, failed = torch.linalg.cholesky_ex(covariance)
    if failed:
        raise SettingError(
            f"the covariance within the classes has no inverse: too few items for {len(covariance)} "
            "dimensions; choose a shrinkage above 0"
        )
    lower: Tensor = root
    return lower


def diagonalised(within: Tensor, between: Tensor) -> tuple[Tensor, Tensor]:
    """The map A (d, d) with A within Aᵀ = I and A between Aᵀ diagonal, and that diagonal (d,), largest first.

    A negative number on the diagonal becomes 0.
    """
    root = lower_root(within)
    half = torch.linalg.solve_triangular(root, between, upper=False)
    whitened = torch.linalg.solve_triangular(root, half.T, upper=False)
    spread, directions = torch.linalg.eigh((whitened + whitened.T) / 2)
    order = torch.arange(len(spread) - 1, -1, -1, device=spread.device)
    return torch.linalg.solve_triangular(root.T, directions[:, order], upper=True).T, spread[order].clamp(
        min=0
    )


def discriminants(statistics: ClassStatistics, within: Tensor, rank: int) -> Tensor:
    """The directions (rank, d) in which the class means differ most, relative to the covariance within the
    classes: linear discriminant analysis, each direction of length 1.

    Raises DataError unless there are more classes than directions.
    """
    if rank >= len(statistics.means):
        raise DataError(
            f"{len(statistics.means)} classes differ in at most {len(statistics.means) - 1} directions; "
            f"got a rank of {rank}"
        )
    root = lower_root(within)
    means = torch.linalg.solve_triangular(root, (statistics.means - statistics.mean).T, upper=False)
    directions = torch.linalg.svd(means, full_matrices=False).U[:, :rank]
    return F.normalize(torch.linalg.solve_triangular(root.T, directions, upper=True).T, dim=1)


def most_likely(
    statistics: ClassStatistics, within: Tensor, between: Tensor, *, iterations: int
) -> tuple[Tensor, Tensor]:
    """The covariances within and between classes after so many steps of expectation maximisation.

    The model: an item is the mean of its class plus noise, the mean of a class and the noise are Gaussian.
    Each step raises the likelihood of the items; classes may have different sizes. In a basis in which both
    covariances are diagonal (u, with A within Aᵀ = I and A between Aᵀ = diag(ψ)), the true mean of a class of
    n items with the mean u is Gaussian with variance ψ / (nψ + 1) and mean nψ / (nψ + 1) u.
    """
    sizes, total = statistics.sizes[:, None], statistics.sizes.sum()
    for _ in range(iterations):
        basis, spread = diagonalised(within, between)
        means = (statistics.means - statistics.mean) @ basis.T
        variances = spread / (sizes * spread + 1)
        expected = sizes * variances * means
        left = means - expected
        new_between = (expected.T @ expected + variances.sum(0).diag()) / len(means)
        new_within = (
            (sizes * left).T @ left + (sizes * variances).sum(0).diag() + basis @ statistics.scatter @ basis.T
        ) / total
        back = torch.linalg.inv(basis)
        within, between = back @ new_within @ back.T, back @ new_between @ back.T
        within, between = (within + within.T) / 2, (between + between.T) / 2
    return within, between

"""Features without their class, and along their principal directions.

Kim, "On the Significance of Distance in Machine Learning", 2023, chapter 6.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from samekind.errors import DataError, SettingError

#: A direction whose deviation is this share of the widest, or less, does not vary.
NOTHING = 1e-4


class PrincipalDirections(NamedTuple):
    """The directions in which embeddings vary, the widest first, around their mean."""

    mean: Tensor  # (d,)
    directions: Tensor  # (directions, d), each of length 1
    deviations: Tensor  # (directions,) standard deviations


def residual_features(z: Tensor, labels: Tensor, prototypes: Tensor) -> Tensor:
    """Embeddings minus the nearest prototype of their class: (n, d), (n,), (classes, k, d) -> (n, d).

    They hold what varies within classes, such as pose, light or handwriting. ``labels`` are rows of the
    prototypes.
    """
    if z.ndim != 2 or prototypes.ndim != 3 or prototypes.shape[2] != z.shape[1]:
        shapes = f"{tuple(z.shape)} and {tuple(prototypes.shape)}"
        raise DataError(f"expected embeddings (n, d) and prototypes (classes, k, d), got {shapes}")
    if labels.shape != z.shape[:1]:
        raise DataError(f"every embedding needs a label; got {len(z)} and {tuple(labels.shape)}")
    if len(labels) and not 0 <= int(labels.min()) <= int(labels.max()) < len(prototypes):
        span = f"{int(labels.min())} to {int(labels.max())}"
        raise DataError(f"labels are rows of the prototypes, 0 to {len(prototypes) - 1}; got {span}")
    away = z[:, None] - prototypes[labels]  # (n, k, d)
    nearest = away.square().sum(2).argmin(1)
    return away[torch.arange(len(z), device=z.device), nearest]


def principal_directions(z: Tensor, *, count: int | None = None) -> PrincipalDirections:
    """The ``count`` widest directions of embeddings (n, d); None for all min(n, d)."""
    if z.ndim != 2 or len(z) < 2 or not z.isfinite().all():
        raise DataError(f"expected two finite embeddings (n, d) or more, got {tuple(z.shape)}")
    most = min(z.shape)
    if count is not None and not 1 <= count <= most:
        raise SettingError(
            f"{len(z)} embeddings of {z.shape[1]} numbers have 1 to {most} directions; got {count}"
        )
    mean = z.double().mean(0)
    _, values, directions = torch.linalg.svd(z.double() - mean, full_matrices=False)
    deviations = values[:count] / (len(z) - 1) ** 0.5
    return PrincipalDirections(mean.to(z.dtype), directions[:count].to(z.dtype), deviations.to(z.dtype))


def reweighted(z: Tensor, directions: PrincipalDirections, weights: Tensor) -> Tensor:
    """Embeddings with each direction stretched by its weight, centred on the mean: (n, d) -> (n, d).

    ``weights`` is (directions,), 0 or more: 1 keeps a direction, 0 removes it. The first directions separate
    the classes; small weights for them bring out the rest. Everything outside the directions is removed.
    """
    if weights.shape != directions.deviations.shape:
        expected = f"({len(directions.deviations)},)"
        raise SettingError(f"expected one weight a direction, {expected}, got {tuple(weights.shape)}")
    if not (weights.isfinite() & (weights >= 0)).all():
        raise SettingError(f"weights are finite and 0 or more; got {float(weights.min()):g} among them")
    along = (z - directions.mean) @ directions.directions.T
    return (along * weights.to(along)) @ directions.directions


def evening_weights(directions: PrincipalDirections, *, power: float) -> Tensor:
    """The weights of `reweighted` that divide each direction by its standard deviation to a power: 0 leaves
    the directions, 1 makes them alike. The widest keeps its size; what does not vary is removed.
    """
    widest = directions.deviations[0].clamp(min=torch.finfo(directions.deviations.dtype).tiny)
    shares = directions.deviations / widest
    return torch.where(shares > NOTHING, shares.clamp(min=NOTHING).pow(-power), 0.0)

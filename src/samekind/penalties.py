"""Penalties: costs of embeddings and prototypes alone, each a number that is added to the losses.

A penalty asks by the names of its parameters for what it needs (`training.context.FOR_PENALTIES` has all):

- ``z``, the embeddings of the batch, (n, d);
- ``y``, their classes, (n,) whole numbers;
- ``prototypes``, the vectors of the classes, (classes, k, d);
- ``distances``, how far apart the classes are in their tree, (classes, classes). A run without a tree is
  refused.

Parameters with a default are settings, keyword-only, which a run gives in the penalty's ``settings``. A
penalty is one finite number with a finite gradient, 0 where there is nothing to compare.
"""

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.prototypes import class_means
from samekind.similarities.distances import exact

__all__ = ["distortion", "energy_confusion", "norm", "sparse_centres", "spread", "vicreg"]


def distortion(prototypes: Tensor, distances: Tensor, *, normalise: bool = False) -> Tensor:
    """How far the distances of prototypes are, relatively, from those of their classes, at the best scale.

    The mean over pairs of (s d / D - 1)², d being the Euclidean distance of two prototypes, D that of their
    classes and s the factor that makes it least. Pairs with D = 0 (two of one class) do not count. 0: the
    prototypes are a scaled copy of the classes; 1, the most: they are all in one point. ``normalise`` puts
    the prototypes on the sphere first, for similarities that do. Garnot and Landrieu, "Leveraging Class
    Hierarchies with Metric-Guided Prototype Learning", BMVC 2021.
    """
    classes, count, dimension = prototypes.shape
    if distances.shape != (classes, classes):
        expected = f"({classes}, {classes}), one for each two of the prototypes' {classes} classes"
        raise SettingError(
            f"distortion: expected distances of shape {expected}; got {tuple(distances.shape)}"
        )
    points = exact(prototypes.reshape(classes * count, dimension), normalise)
    targets = distances.to(points).repeat_interleave(count, 0).repeat_interleave(count, 1)
    counted = targets > 0
    if not counted.any():
        return prototypes.sum() * 0
    lengths = torch.cdist(points, points, compute_mode="donot_use_mm_for_euclid_dist")
    ratios = (lengths / targets.where(counted, 1))[counted]
    # The value does not depend on the unit of length; this one keeps the squares in range.
    ratios = ratios / ratios.detach().amax().clamp(min=torch.finfo(ratios.dtype).tiny)
    best = ratios.sum() / ratios.square().sum().clamp(min=torch.finfo(ratios.dtype).tiny)
    return (best * ratios - 1).square().mean().to(prototypes.dtype)


def energy_confusion(z: Tensor, y: Tensor, *, normalise: bool = False) -> Tensor:
    """Mean squared distance of two items of two classes: every two classes count alike, whatever their sizes.

    Descending it draws the classes together, against a loss that tells them apart too well to be of use for
    classes to come. ``normalise`` puts the embeddings on the sphere first, for similarities that do: else
    shorter embeddings would cost less and change nothing. A batch of one class costs 0. Chen and Deng,
    "Energy Confused Adversarial Metric Learning for Zero-Shot Image Retrieval and Clustering", AAAI 2019.
    """
    names, members = y.unique(return_inverse=True)  # type: ignore[no-untyped-call]
    if len(names) < 2:
        return z.sum() * 0
    points = exact(z, normalise)
    means, _ = class_means(points, members, len(names))
    # |a - b|² between two classes is, in the mean, what each varies by plus the square between their means.
    within = (points - means[members]).square().sum(1, keepdim=True)
    variances, _ = class_means(within, members, len(names))
    between = (means - means.mean(0)).square().sum(1).mean() * len(names) / (len(names) - 1)
    return (2 * variances.mean() + 2 * between).to(z.dtype)


def norm(z: Tensor) -> Tensor:
    """The mean length of the embeddings; its gradient at a zero vector is 0."""
    if not len(z):
        return z.sum() * 0
    lengths: Tensor = torch.linalg.vector_norm(exact(z, normalise=False), dim=-1)
    return lengths.mean().to(z.dtype)


def sparse_centres(prototypes: Tensor) -> Tensor:
    """Half the mean distance, on the sphere, of two prototypes of one class: centres that a class does not
    need meet.

    With one prototype a class it is 0. The regulariser of SoftTriple, there with a weight of 0.2: Qian et
    al., "SoftTriple Loss: Deep Metric Learning Without Triplet Sampling", ICCV 2019.
    """
    classes, count, _ = prototypes.shape
    if not classes or count < 2:
        return prototypes.sum() * 0
    points = exact(prototypes, normalise=True)
    distances = torch.cdist(points, points, compute_mode="donot_use_mm_for_euclid_dist")
    return (distances.sum() / (2 * classes * count * (count - 1))).to(prototypes.dtype)


def spread(z: Tensor) -> Tensor:
    """Minus the mean distance of each item to its nearest neighbour in the batch, on the sphere.

    The entropy regulariser of the triplet baseline: items that crowd together cost more. Between -2 (as far
    apart as can be) and 0 (every item has a twin); a single item costs 0.
    """
    if len(z) < 2:
        return z.sum() * 0
    points = exact(z, normalise=True)
    distances = torch.cdist(points, points, compute_mode="donot_use_mm_for_euclid_dist")
    itself = torch.eye(len(z), dtype=torch.bool, device=z.device)
    return -distances.masked_fill(itself, torch.inf).amin(1).mean().to(z.dtype)


def vicreg(
    z: Tensor,
    y: Tensor,
    *,
    invariance: float = 25.0,
    variance: float = 25.0,
    covariance: float = 2.0,
    epsilon: float = 1e-4,
) -> Tensor:
    """Items of a class shall be alike, the numbers of embeddings shall vary and not go together.

    ``invariance`` times the mean squared difference of a number between two items of one class;
    ``variance`` times the mean over numbers of [1 - √(its variance + epsilon)]₊; ``covariance`` times the
    sum of the squared covariances of two numbers, over their count. The paper has two views of every item:
    here they are two items of a class, and its 1 for the covariances of each view is a 2. A single item
    costs 0. Bardes et al., "VICReg: Variance-Invariance-Covariance Regularization for Self-Supervised
    Learning", ICLR 2022.
    """
    if len(z) < 2:
        return z.sum() * 0
    points = exact(z, normalise=False)
    centred = points - points.mean(0)
    products = centred.T @ centred / (len(z) - 1)
    spreads = (products.diagonal() + epsilon).sqrt()
    itself = torch.eye(z.shape[1], dtype=torch.bool, device=z.device)
    together = products.masked_fill(itself, 0).square().sum()
    cost = variance * (1 - spreads).clamp(min=0).mean() + covariance * together / z.shape[1]
    cost = cost + invariance * _within_classes(points, y) / z.shape[1]
    # The fourth power of a large number may be more than there is.
    return cost.clamp(max=torch.finfo(z.dtype).max).to(z.dtype)


def _within_classes(points: Tensor, y: Tensor) -> Tensor:
    """The mean squared distance of two items of one class, over all pairs; 0 without one."""
    names, members = y.unique(return_inverse=True)  # type: ignore[no-untyped-call]
    means, _ = class_means(points, members, len(names))
    within = (points - means[members]).square().sum(1)
    counts: Tensor = members.bincount()
    # Over the pairs of a class with n items the squares sum to 2n times those to its mean.
    return (2 * counts[members] * within).sum() / (counts * (counts - 1)).sum().clamp(min=1)

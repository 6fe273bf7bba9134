"""Checks of feature vectors and labels, and class means, that several measures share."""

from typing import NamedTuple

import torch
from torch import Tensor


class Centres(NamedTuple):
    """Feature vectors by class, in float64: classes without items are not among them."""

    features: Tensor  # (n, d)
    labels: Tensor  # (n,) indices into the means
    counts: Tensor  # (classes,)
    means: Tensor  # (classes, d)

    def class_means(self, values: Tensor) -> Tensor:
        """The mean of one value an item within each class: (n,) -> (classes,)."""
        sums = torch.zeros_like(self.counts, dtype=torch.float64).index_add_(0, self.labels, values)
        return sums / self.counts


def check_features(features: Tensor, *, name: str = "features") -> Tensor:
    """The features (n, d) in float64, without gradient; ValueError if they are empty or not finite."""
    if features.ndim != 2 or 0 in features.shape:
        raise ValueError(f"expected {name} of shape (n, d), at least one, got {tuple(features.shape)}")
    if not features.isfinite().all():
        broken = int((~features.isfinite()).any(1).sum())
        raise ValueError(f"expected finite {name}, got {broken} of {len(features)} with NaN or infinity")
    return features.detach().double()


def check_classes(features: Tensor, labels: Tensor) -> None:
    """Raise ValueError unless there is one whole number as label for each of the features."""
    if labels.shape != features.shape[:1]:
        shapes = f"{tuple(labels.shape)} for features {tuple(features.shape)}"
        raise ValueError(f"expected one label an item, (n,), got {shapes}")
    if labels.is_floating_point() or labels.is_complex() or labels.dtype == torch.bool:
        raise ValueError(f"expected whole numbers as labels, got {labels.dtype}")


def on_sphere(features: Tensor) -> Tensor:
    """Each vector at length 1, however short or long it was; one of length 0 stays 0."""
    largest = features.abs().amax(1, keepdim=True)
    # By the largest number first: the square of 1e-200 is 0, and that of 1e200 infinite.
    scaled = features / largest.where(largest > 0, 1)
    lengths: Tensor = scaled.norm(dim=1, keepdim=True)
    return scaled / lengths.where(largest > 0, 1)


def class_centres(features: Tensor, labels: Tensor, *, normalise: bool) -> Centres:
    """The features and their class means; fewer than two classes raise a ValueError.

    ``normalise`` puts the features on the unit sphere first. A feature vector of length 0 stays 0.
    """
    checked = check_features(features)
    check_classes(checked, labels)
    if normalise:
        checked = on_sphere(checked)
    names, index, counts = torch.unique(labels, return_inverse=True, return_counts=True)
    if len(names) < 2:
        raise ValueError(f"expected items of at least two classes, got {len(names)}")
    sums = checked.new_zeros(len(names), checked.shape[1]).index_add_(0, index, checked)
    return Centres(checked, index, counts, sums / counts[:, None])

"""Classes as clusters: how wide each is, how far it moved, and whether items are nearest to their own.

``features`` are (n, d), ``labels`` (n,) whole numbers; a class's centroid is the mean of its features, and
is not normalised. Values by class come in the order of the labels.

Kim, "On the Significance of Distance in Machine Learning", 2023, paper I (plankton).
"""

import torch
from torch import Tensor

from samekind.measures.geometry.features import check_classes, check_features
from samekind.prototypes import class_means

PAIRS = 2**22  # distances held at a time


def class_radii(features: Tensor, labels: Tensor) -> Tensor:
    """The mean distance of each class's items to its centroid: float64 (classes,); 0 for a single item.

    >>> class_radii(torch.tensor([[0.0], [2.0], [5.0]]), torch.tensor([0, 0, 1])).tolist()
    [1.0, 0.0]
    """
    points = check_features(features)
    index, count = _classes(points, labels)
    distances = (points - class_means(points, index, count)[0][index]).norm(dim=1)
    return class_means(distances[:, None], index, count)[0][:, 0]


def centroid_shifts(old: Tensor, new: Tensor, labels: Tensor) -> Tensor:
    """How far each class's centroid moved between two states of the same items: float64 (classes,).

    >>> old, new = torch.tensor([[0.0], [2.0]]), torch.tensor([[3.0], [1.0]])
    >>> centroid_shifts(old, new, torch.tensor([4, 4])).tolist()
    [1.0]
    """
    before, after = check_features(old, name="old"), check_features(new, name="new")
    if before.shape != after.shape:
        shapes = f"{tuple(before.shape)} and {tuple(after.shape)}"
        raise ValueError(f"expected old and new features of one shape, got {shapes}")
    index, count = _classes(before, labels)
    shifts: Tensor = torch.linalg.vector_norm(class_means(after - before, index, count)[0], dim=1)
    return shifts


def nearest_centroid_accuracy(
    features: Tensor, labels: Tensor, *, reference: tuple[Tensor, Tensor] | None = None
) -> float:
    """The share of items that are nearer to their own class's centroid than to any other.

    The centroids are those of the items themselves, or of ``reference``: other features (m, d) and their
    labels (m,). An item whose class is not in the reference counts as wrong. Of equally near classes the
    lower one is taken.

    >>> nearest_centroid_accuracy(torch.tensor([[0.0], [1.0], [9.0], [2.0]]), torch.tensor([0, 0, 1, 1]))
    0.75
    """
    points = check_features(features)
    check_classes(points, labels)
    references, reference_labels = (
        (points, labels) if reference is None else (check_features(reference[0]), reference[1])
    )
    if references.shape[1] != points.shape[1]:
        widths = f"{references.shape[1]} and {points.shape[1]}"
        raise ValueError(f"expected a reference of the features' dimension, got {widths}")
    check_classes(references, reference_labels)
    names, index = torch.unique(reference_labels, return_inverse=True)
    # Far from the origin the products would lose digits.
    middle = references.mean(0)
    centroids = class_means(references - middle, index, len(names))[0]
    halves = centroids.square().sum(1) / 2
    right, height = 0, max(1, PAIRS // len(names))
    for top in range(0, len(points), height):
        rows = slice(top, top + height)
        nearest = ((points[rows] - middle) @ centroids.T - halves).argmax(1)
        right += int((names[nearest] == labels[rows]).sum())
    return right / len(labels)


def _classes(features: Tensor, labels: Tensor) -> tuple[Tensor, int]:
    """The class of each item, counted from 0, and how many there are."""
    check_classes(features, labels)
    names, index = torch.unique(labels, return_inverse=True)
    return index, len(names)

"""Retrieval with a tree of classes, in which some mistakes are worse than others.

Barz and Denzler, "Hierarchy-Based Image Embeddings for Semantic Image Retrieval", WACV 2019, with the
similarity of Kim's thesis: 1 - (d / (beta + d))² of two classes at distance d in the tree, 1 for the same.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from samekind.measures.checks import check_labels


class Graded(NamedTuple):
    """A graded measure, and its last rank: less than k if there are fewer neighbours."""

    mean: float
    k: int


def hierarchical_similarity_at(
    neighbours: Tensor,
    labels: Tensor,
    *,
    class_distances: Tensor,
    k: int = 50,
    beta: float = 1.0,
    gallery: Tensor | None = None,
) -> Graded:
    """HS@k: the similarity of the k nearest to the query's class in the tree, over that of the best k.

    ``neighbours`` is (queries, ranks), the classes of each query's neighbours, nearest first, itself left
    out; ``labels`` (queries,); ``class_distances`` (classes, classes). ``gallery`` (items,) are the classes
    that could be found: without it the queries themselves, each without itself. 1 when no order is better.
    A k beyond the ranks or the gallery is cut, and the answer has the k that was used.

    >>> tree = torch.tensor([[0.0, 2.0, 4.0], [2.0, 0.0, 4.0], [4.0, 4.0, 0.0]])
    >>> labels = torch.tensor([0, 1, 2])
    >>> hierarchical_similarity_at(
    ...     torch.tensor([[1, 2], [2, 0], [0, 1]]), labels, class_distances=tree, k=1
    ... )
    Graded(mean=0.8826666666666666, k=1)
    """
    curve = _curve(neighbours, labels, class_distances, k, beta, gallery)
    return Graded(float(curve[-1]), len(curve))


def average_hierarchical_similarity(
    neighbours: Tensor,
    labels: Tensor,
    *,
    class_distances: Tensor,
    k: int = 250,
    beta: float = 1.0,
    gallery: Tensor | None = None,
) -> Graded:
    """AHS@k: the area under HS@1 to HS@k by the trapezoid rule, over k - 1, so that a perfect order has 1.

    The arguments, and what happens to a k that is too large, are those of `hierarchical_similarity_at`.

    >>> tree = torch.tensor([[0.0, 2.0, 4.0], [2.0, 0.0, 4.0], [4.0, 4.0, 0.0]])
    >>> found = torch.tensor([[1, 2], [0, 2], [0, 1]])
    >>> average_hierarchical_similarity(found, torch.tensor([0, 1, 2]), class_distances=tree)
    Graded(mean=1.0, k=2)
    """
    curve = _curve(neighbours, labels, class_distances, k, beta, gallery)
    area = torch.trapezoid(curve) / (len(curve) - 1) if len(curve) > 1 else curve[0]
    return Graded(float(area), len(curve))


def _curve(
    neighbours: Tensor, labels: Tensor, class_distances: Tensor, k: int, beta: float, gallery: Tensor | None
) -> Tensor:
    """HS at every rank up to k, or up to the end of the gallery."""
    found_in = labels if gallery is None else gallery
    check_labels(found_in, found_in, name="gallery")
    similarity = _checked(neighbours, labels, class_distances, k, beta, found_in)
    k = min(k, neighbours.shape[1], len(found_in) - (gallery is None))
    if k < 1:
        raise ValueError(f"expected something to find, got {len(found_in)} items in the gallery")
    reached = similarity[labels.long()[:, None], neighbours[:, :k].long()].cumsum(1)
    classes, of_query = torch.unique(labels.long(), return_inverse=True)
    ideal = similarity[classes][:, found_in.long()].sort(dim=1, descending=True).values
    # A query would be its own best neighbour, so leaving it out removes the first.
    best = ideal[:, (gallery is None) :][:, :k].cumsum(1)
    return (reached / best[of_query]).mean(0)


def _checked(
    neighbours: Tensor, labels: Tensor, class_distances: Tensor, k: int, beta: float, gallery: Tensor
) -> Tensor:
    """The similarity of any two classes; ValueError for arguments that do not fit."""
    if neighbours.ndim != 2 or labels.ndim != 1 or len(neighbours) != len(labels):
        shapes = f"{tuple(neighbours.shape)} and {tuple(labels.shape)}"
        raise ValueError(f"expected neighbours (queries, ranks) and labels (queries,), got {shapes}")
    check_labels(labels, labels, name="labels")
    if class_distances.ndim != 2 or class_distances.shape[0] != class_distances.shape[1]:
        raise ValueError(f"expected class_distances (classes, classes), got {tuple(class_distances.shape)}")
    named = torch.cat([neighbours.flatten(), labels, gallery])
    for label in (int(named.min()), int(named.max())):
        if not 0 <= label < len(class_distances):
            count = len(class_distances)
            raise ValueError(f"expected classes from 0 to {count - 1}, as in the tree, got {label}")
    distances = class_distances.detach().double()
    if not (distances >= 0).all() or not distances.isfinite().all() or distances.diagonal().any():
        raise ValueError("expected finite distances, 0 from a class to itself and none below, got others")
    if k < 1 or not beta > 0:
        raise ValueError(f"expected k of 1 or more and beta above 0, got {k} and {beta}")
    return 1 - (distances / (beta + distances)).square()

"""How far away is the nearest adversarial point? Exactly, where a classifier says the class of the nearest
reference: nearest neighbours, class means, prototypes.

There the answer is a region of flat walls, and so is the Voronoi cell of an item; the nearest point of such a
region is a least-distance problem, which non-negative least squares solve. Distances are Euclidean. Made for
hundreds of items, not for thousands.

Kim, "On the Significance of Distance in Machine Learning", 2023, paper III; Lawson and Hanson, "Solving Least
Squares Problems", 1974, chapter 23.
"""

import math
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from samekind.measures.geometry.features import check_classes, check_features

if TYPE_CHECKING:
    from numpy.typing import NDArray

    #: Walls of a region, in rows: the normal (d) of length 1 and its offset. Inside normal · p <= offset.
    Walls = NDArray[np.float64]

#: A part of an open cell thinner than this share of the distance to the nearest item is taken to be empty.
THIN = 1e-6
#: What rounding may add to a wall, as a share of the same distance.
ROUNDING = 1e-7


def adversarial_distances(
    features: Tensor,
    labels: Tensor,
    *,
    references: Tensor | None = None,
    reference_labels: Tensor | None = None,
    voronoi: bool = False,
) -> Tensor:
    """The distance (n,) from every item to the nearest point whose nearest reference has another class.

    0 for an item that is wrong already, infinite if no point is wrong. Without ``references`` (m, d) and
    their labels (m,) the items are the references: the 1-nearest-neighbour classifier. With ``voronoi`` only
    points count that are nearer to the item than to any other item; there that classifier is never wrong. A
    point with references of two classes equally near is wrong.

    The share of distances above ε is the adversarial accuracy at ε (`accuracy_within`): the standard one, or
    with ``voronoi`` the Voronoi-ε one. Below half the `smallest_distance` the two are equal.

    >>> features, labels = torch.tensor([[0.0], [1.0], [3.0]]), torch.tensor([0, 0, 1])
    >>> adversarial_distances(features, labels).round(decimals=9).tolist()
    [2.0, 1.0, 1.0]
    >>> adversarial_distances(features, labels, voronoi=True).tolist()
    [inf, inf, inf]
    """
    checked = check_features(features)
    check_classes(checked, labels)
    targets, names = checked, labels
    if references is not None or reference_labels is not None:
        targets, names = _references(references, reference_labels, checked.shape[1])
    items, points = checked.cpu().numpy(), targets.cpu().numpy()
    classes = names.cpu().numpy()
    distances = [
        _distance(items, points, classes != label, place, voronoi=voronoi)
        for place, label in enumerate(labels.tolist())
    ]
    return torch.tensor(distances, dtype=torch.float64, device=features.device)


def _references(vectors: Tensor | None, labels: Tensor | None, dimension: int) -> tuple[Tensor, Tensor]:
    if vectors is None or labels is None:
        raise ValueError("expected references and reference_labels together, got one of them")
    targets = check_features(vectors, name="references")
    check_classes(targets, labels)
    if targets.shape[1] != dimension:
        raise ValueError(f"expected references as long as the features, {dimension}, got {targets.shape[1]}")
    return targets, labels


def smallest_distance(features: Tensor, *, order: float = 2.0) -> float:
    """The smallest distance above 0 between two items; the ``order`` of the norm is 1, 2 or ``math.inf``.
    Infinite if all items are equal.

    >>> smallest_distance(torch.tensor([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]]))
    5.0
    """
    checked = check_features(features)
    if order not in (1, 2, math.inf):
        raise ValueError(f"expected the norm of order 1, 2 or infinity, got {order}")
    distances = torch.nn.functional.pdist(checked, p=order)
    return float(distances[distances > 0].min()) if bool((distances > 0).any()) else math.inf


def _distance(
    items: np.ndarray, points: np.ndarray, wrong: np.ndarray, place: int, *, voronoi: bool
) -> float:
    """From one item to the nearest wrong point."""
    around, here = points - items[place], items - items[place]
    lengths = np.linalg.norm(around, axis=1)
    apart = np.linalg.norm(here, axis=1)
    scale = float(apart[apart > 0].min()) if voronoi and (apart > 0).any() else float(lengths.max() or 1)
    around, here = around / scale, here / scale
    cell = _walls(here, place) if voronoi else None
    nearest = math.inf
    # The nearest wrong reference first. The distance to its wall with any other reference is a bound.
    bounds = _bounds(around, int(lengths.argmin()))
    for reference in np.flatnonzero(wrong)[np.argsort(bounds[wrong])]:
        if bounds[reference] >= nearest:
            break
        region = _walls(around, reference)
        if cell is None:
            nearest = min(nearest, _least(region))
            continue
        # The cell is open: it must still be met after it has been made a little smaller.
        smaller = cell - np.append(np.zeros(cell.shape[1] - 1), THIN)
        if math.isfinite(_least(np.concatenate([region, smaller]))):
            nearest = min(nearest, _least(np.concatenate([region, cell])))
    return nearest * scale


def _walls(points: np.ndarray, own: int) -> "Walls":
    """The Voronoi cell of one of the points: its walls with the others that are not at the same place."""
    to_others = points - points[own]
    lengths = np.linalg.norm(to_others, axis=1)
    distinct = lengths > 0
    normals = to_others[distinct] / lengths[distinct, None]
    offsets = (normals * (points[distinct] + points[own]) / 2).sum(1)
    return np.column_stack([normals, offsets])


def _bounds(points: np.ndarray, nearest: int) -> np.ndarray:
    """A lower bound of the distance from the origin to each point's cell: its wall with the nearest point."""
    squares = (points**2).sum(1)
    apart = np.linalg.norm(points - points[nearest], axis=1)
    bounds: np.ndarray = (squares - squares[nearest]) / (2 * np.where(apart > 0, apart, 1))
    return bounds


def _least(walls: "Walls") -> float:
    """The distance from the origin to the nearest point inside all walls; infinite if there is none."""
    from scipy.optimize import nnls

    normals, offsets = walls[:, :-1], walls[:, -1]
    if (offsets >= 0).all():
        return 0.0
    target = np.append(np.zeros(normals.shape[1]), 1.0)
    weights, _ = nnls(-walls.T, target)
    residual = -walls.T @ weights - target
    if residual[-1] > -np.finfo(float).eps:
        return math.inf
    point = -residual[:-1] / residual[-1]
    return float(np.linalg.norm(point)) if (normals @ point <= offsets + ROUNDING).all() else math.inf

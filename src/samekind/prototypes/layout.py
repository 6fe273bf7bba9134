"""Where fixed proxies stand on the sphere, so that classes that are near in their tree are near there.

Two layouts. `multidimensional_scaling` descends the difference between the distances of the proxies and those
wanted, in any dimension: Kim, "On the Significance of Distance in Machine Learning", 2023. `exact_directions`
has the wanted cosines exactly, in as many dimensions as there are classes: Barz and Denzler, "Hierarchy-based
Image Embeddings for Semantic Image Retrieval", WACV 2019. `turned` changes neither: it turns all directions
as one, towards where the classes already are.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.errors import SettingError

#: Steps of Adam, and their rate.
STEPS, RATE = 1000, 1e-3


def wanted_chords(distances: Tensor, *, beta: float = 1.0) -> Tensor:
    """The wanted distances on the sphere: √2 d / (beta + d), so that no two classes are more than at a right
    angle, however far apart they are in the tree.

    >>> wanted_chords(torch.tensor([0.0, 2.0, 8.0]))
    tensor([0.0000, 0.9428, 1.2571])
    """
    if not (beta > 0 and math.isfinite(beta)):
        raise SettingError(f"beta must be a positive number, got {beta}")
    return math.sqrt(2) * distances / (beta + distances)


def multidimensional_scaling(
    distances: Tensor, *, dimension: int, beta: float = 1.0, steps: int = STEPS, rate: float = RATE
) -> Tensor:
    """Directions (classes, dimension) whose chords are as near to `wanted_chords` as 1,000 steps of Adam
    bring them, from a random start (the global generator), in float32. `stress` says how near.
    """
    wanted = wanted_chords(distances.float(), beta=beta)
    points = F.normalize(torch.randn(len(wanted), dimension), dim=1).requires_grad_()
    if len(wanted) < 2:
        return points.detach()
    optimiser = torch.optim.Adam([points], lr=rate)
    for _ in range(steps):
        with torch.enable_grad():
            (points.grad,) = torch.autograd.grad(_difference(points, wanted), points)
        optimiser.step()
    return F.normalize(points.detach(), dim=1)


def stress(directions: Tensor, distances: Tensor, *, beta: float = 1.0) -> float:
    """How far the chords of directions are from those wanted, as a share of these; 0 is a copy."""
    return float(_difference(directions, wanted_chords(distances.to(directions), beta=beta)))


def exact_directions(lcs_distances: Tensor, *, dimension: int) -> Tensor:
    """Directions (classes, dimension) with a cosine of 1 - LCS distance for any two classes.

    They are the rows of the triangular root of the matrix of cosines, found row by row, and take as many
    numbers as there are classes; more are 0. In fewer dimensions they are the nearest by squares (the largest
    eigenvalues), scaled to length 1, and so no longer exact. Raises SettingError where two classes have a
    distance of 0, or no directions have these cosines.
    """
    cosines = 1 - lcs_distances.double()
    root, failed = torch.linalg.cholesky_ex(cosines)
    if int(failed):
        raise SettingError(
            "no directions have these LCS distances: two classes at distance 0, or distances of no tree"
        )
    if dimension >= len(cosines):
        return F.pad(root, (0, dimension - len(cosines))).float()
    values, vectors = torch.linalg.eigh(cosines)
    return F.normalize((vectors * values.clamp(min=0).sqrt())[:, -dimension:], dim=1).float()


def turned(directions: Tensor, means: Tensor) -> Tensor:
    """Directions (classes, d) turned as one towards means (classes, d): the rotation or reflection with the
    highest sum of cosines (orthogonal Procrustes). No angle between two of them changes.

    A class whose mean is 0, for want of items, has no say.
    """
    left, _, right = torch.linalg.svd(directions.double().T @ F.normalize(means.double(), dim=1))
    rotation: Tensor = left @ right
    return (directions.double() @ rotation).to(directions)


def _difference(points: Tensor, wanted: Tensor) -> Tensor:
    """The stress, with a gradient: the diagonal counts, and no length or distance is quite 0."""
    directions = points / (points.norm(dim=1, keepdim=True) + 1e-6)
    chords = ((2 - 2 * directions @ directions.T).clamp(min=0) + 1e-12).sqrt()
    share: Tensor = torch.linalg.vector_norm(chords - wanted) / torch.linalg.vector_norm(wanted)
    return share

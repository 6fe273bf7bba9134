"""Representation: how features lie by class, without a single score.

``features`` are (n, d), ``labels`` (n,) whole numbers. Every class counts the same, however many items it
has. All sums over pairs are in closed form, so time and memory grow with n·d, and no table of pairs is ever
made. ``normalise`` puts the features on the unit sphere first, as the sources do; a
vector of length 0 stays 0, and its cosine with anything is 0.

Roth et al., "Revisiting Training Strategies and Generalization Performance in Deep Metric Learning", ICML
2020; Kornblith et al., "Why Do Better Loss Functions Lead to Less Transferable Features?", NeurIPS 2021; Kim,
"On the Significance of Distance in Machine Learning", 2023.
"""

import math
from typing import Literal, NamedTuple

from torch import Tensor

from samekind.measures.geometry.features import Centres, class_centres, on_sphere

#: Squared lengths of unit vectors below this are what rounding leaves of 0.
NOTHING = 1e-24


class ClassSpread(NamedTuple):
    """How far classes are from each other, how wide they are, and the first over the second."""

    between: float
    within: float
    ratio: float


class ClassDensity(NamedTuple):
    """How far items of one class and how far class centres are from each other; the first over the second."""

    within: float
    between: float
    ratio: float


def class_spread(features: Tensor, labels: Tensor, *, normalise: bool = True) -> ClassSpread:
    """Squared distances between class means (D_inter) and to the own mean (D_intra); φ is their ratio.

    ``between`` is the mean over ordered pairs of different classes; ``within`` the mean over classes of the
    mean squared distance to the class mean, which is not normalised. The ratio is infinite for
    classes that are points, and NaN when they are all one point.

    >>> import torch
    >>> features = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> class_spread(features, torch.tensor([0, 0, 1, 1]))
    ClassSpread(between=1.0, within=0.5, ratio=2.0)
    """
    centres = class_centres(features, labels, normalise=normalise)
    between, within = _between(centres), _within(centres)
    return ClassSpread(between, within, _ratio(between, within))


def class_separation(features: Tensor, labels: Tensor) -> float:
    """The share R² of the cosine distances that lies between the classes: 1 - within / total.

    1 when every class is a point and not all are the same one, 0 when the class means coincide. Pairs of
    an item with itself are counted on both sides, as in the source. For unit features and K classes it is
    1 / (1 + 2 K / ((K - 1) φ)). NaN when all features point the same way.

    >>> import torch
    >>> features = torch.tensor([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> round(class_separation(features, torch.tensor([0, 0, 1, 1])), 6)
    0.333333
    """
    centres = class_centres(features, labels, normalise=True)
    # The mean cosine distance within a class is 1 - ||mean||², but that difference loses its digits where the
    # classes are tight; the squared distances to the mean do not.
    nowhere = float(centres.class_means(_is_zero(centres.features)).mean())
    within = _within(centres) + nowhere
    classes = len(centres.counts)
    total = within + (classes - 1) / (2 * classes) * _between(centres)
    return 1 - within / total if total > NOTHING else math.nan


def class_density(
    features: Tensor,
    labels: Tensor,
    *,
    normalisation: Literal["global", "classwise"] = "global",
    distance: Literal["cosine", "squared"] = "cosine",
) -> ClassDensity:
    """Mean distance of two items of one class (π_intra), of two class centres (π_inter), and their ratio.

    ``"global"`` is the mean over all pairs of one class, so large classes count more; ``"classwise"`` the
    mean of the classes' own means. A class of one item has no pair: it is left out within, and its centre
    still counts between. With ``"cosine"`` the centres are put back on the sphere; ``"squared"`` are squared
    Euclidean distances of the features as they come. The ratio is infinite where all centres coincide,
    and NaN where the items do too.

    >>> import torch
    >>> features = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [-1.0, 0.0]])
    >>> density = class_density(features, torch.tensor([0, 0, 1, 1]))
    >>> round(density.within, 6), round(density.between, 6)
    (0.5, 1.707107)
    """
    if normalisation not in ("global", "classwise"):
        raise ValueError(f'expected a normalisation "global" or "classwise", got "{normalisation}"')
    if distance not in ("cosine", "squared"):
        raise ValueError(f'expected a distance "cosine" or "squared", got "{distance}"')
    cosine = distance == "cosine"
    centres = class_centres(features, labels, normalise=cosine)
    counts = centres.counts.double()
    pairs = counts * (counts - 1)
    if not pairs.any():
        raise ValueError("expected a class with at least two items, got classes of one item each")
    sums = (1 if cosine else 2) * counts.square() * _variances(centres)
    if cosine:
        sums = sums + counts * centres.class_means(_is_zero(centres.features)) * (counts - 1)
    paired = pairs > 0
    by_class = (sums[paired] / pairs[paired]).mean()
    within = float(sums.sum() / pairs.sum() if normalisation == "global" else by_class)
    between = _mean_cosine_distance(centres.means) if cosine else _between(centres)
    return ClassDensity(within, between, _ratio(within, between))


def _variances(centres: Centres) -> Tensor:
    """The mean squared distance to the mean of each class: (classes,)."""
    return centres.class_means((centres.features - centres.means[centres.labels]).square().sum(1))


def _within(centres: Centres) -> float:
    return float(_variances(centres).mean())


def _between(centres: Centres) -> float:
    """The mean squared distance over ordered pairs of classes, by way of the mean of the means."""
    classes = len(centres.means)
    scatter = (centres.means - centres.means.mean(0)).square().sum(1).mean()
    return float(2 * classes / (classes - 1) * scatter)


def _mean_cosine_distance(means: Tensor) -> float:
    """Over ordered pairs of different rows."""
    units, count = on_sphere(means), len(means)
    scatter = (units - units.mean(0)).square().sum() / (count - 1)
    return float(scatter + _is_zero(units).mean())


def _is_zero(features: Tensor) -> Tensor:
    return (features == 0).all(1).double()


def _ratio(above: float, below: float) -> float:
    if below > 0:
        return above / below
    return math.inf if above > 0 else math.nan

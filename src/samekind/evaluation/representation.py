"""A feature space beside the space of inputs: what training kept of the distances, and how classes lie.

Kim, "On the Significance of Distance in Machine Learning", 2023, chapter 5: models trained against stronger
attacks keep more of the distances of inputs, and their classes are less apart.
"""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from samekind.data import Items, draw, scaled
from samekind.inference import embed
from samekind.measures import geometry, mean_correlation
from samekind.measures.geometry.features import class_centres
from samekind.space import MetricSpace

#: The names of the measures, in the order of the tables.
MC_L2, MC_LINF = "MC l2", "MC linf"
INTER, INTRA, PHI, DENSITY = "D_inter", "D_intra", "phi", "pi ratio"
SEPARATION, DIRECTIONS, DECAY = "R2", "directions", "rho"
NEIGHBOUR, MEAN = "1-NN", "nearest mean"
NAMES = (MC_L2, MC_LINF, INTER, INTRA, PHI, DENSITY, SEPARATION, DIRECTIONS, DECAY, NEIGHBOUR, MEAN)

#: Items that are compared with each other, and queries of the two accuracies.
POINTS, QUERIES = 2000, 1000
#: Rows of distances at a time.
ROWS = 256
#: Spaces of which all orders are tried for a p-value.
EXACT = 8

Metric = Literal["l2", "linf"]
ORDERS: dict[Metric, float] = {"l2": 2.0, "linf": torch.inf}


class Points(NamedTuple):
    """Training items, as many of one class as of any other, and test items, with their inputs (n, d)."""

    train: Items
    test: Items
    x: Tensor
    queries: Tensor
    distances: Mapping[Metric, Tensor]  # of the inputs of the training items (n, n)

    @property
    def labels(self) -> Tensor:
        return self.train.labels.cpu()


def points_of(train: Items, test: Items, *, most: int = POINTS, seed: int = 0) -> Points:
    """Items to compare, and the distances of their inputs."""
    references = draw(train, most=most, seed=seed)
    test_items = draw(test, most=min(QUERIES, most), seed=seed)
    x, queries = (scaled(items.inputs[:]).flatten(1).float() for items in (references, test_items))
    return Points(references, test_items, x, queries, {metric: apart(x, x, metric) for metric in ORDERS})


def of_inputs(points: Points, metric: Metric) -> dict[str, float]:
    """The measures of the inputs themselves, in one metric; those of angles (pi ratio, R2, directions, rho)
    with l2 alone.
    """
    spread = (
        geometry.class_spread(points.x, points.labels, normalise=False)
        if metric == "l2"
        else _linf_spread(points)
    )
    between, within = spread[0], spread[1]
    return {
        INTER: between,
        INTRA: within,
        PHI: between / within,
        **(_of_directions(points.x, points.labels) if metric == "l2" else {}),
        **_accuracies(points, points.x, points.queries, metric),
    }


def of_space(space: MetricSpace, points: Points, *, power: float = 0.0) -> dict[str, float]:
    """The measures of the embeddings: the mean correlation of their Euclidean distances with those of the
    inputs, and how classes lie, of embeddings of length 1.

    ``power`` re-weights their principal directions first (section 6.2.3): a direction of the standard
    deviation s is divided by s to that power, 0 leaves them, 1 makes all directions alike.
    """
    z, queries = (embed(space, items.inputs).cpu().float() for items in (points.train, points.test))
    if power:
        z, queries = evened(z, z, power=power), evened(queries, z, power=power)
    distances = apart(z, z, "l2")
    unit, unit_queries = (torch.nn.functional.normalize(vectors) for vectors in (z, queries))
    spread = geometry.class_spread(z, points.labels)
    return {
        MC_L2: mean_correlation(distances, points.distances["l2"]),
        MC_LINF: mean_correlation(distances, points.distances["linf"]),
        INTER: spread.between,
        INTRA: spread.within,
        PHI: spread.ratio,
        **_of_directions(z, points.labels),
        **_accuracies(points, unit, unit_queries, "l2"),
    }


def evened(z: Tensor, fitted: Tensor, *, power: float) -> Tensor:
    """Embeddings (n, d) with the principal directions of ``fitted`` (m, d) divided by their standard
    deviations to a power; those in which nothing varies are removed. The widest keeps its size.
    """
    directions = geometry.principal_directions(fitted)
    return geometry.reweighted(z, directions, geometry.evening_weights(directions, power=power))


def correlations(
    rows: Sequence[Mapping[str, float]], one: str = MC_L2
) -> dict[str, dict[str, tuple[float, float]]]:
    """Pearson's and Spearman's correlation of a measure with the others over several spaces, each with its
    p-value (table 5.6); none for fewer than three spaces, or where a measure does not vary. The p-value of
    Spearman's is exact for few spaces; the usual one, as in the thesis, is 0 for any three in order.
    """
    from scipy.stats import pearsonr

    if len(rows) < 3:
        return {}
    columns = {name: [row[name] for row in rows] for name in NAMES if all(name in row for row in rows)}
    varying = {name for name, values in columns.items() if len(set(values)) > 1}
    answers: dict[str, dict[str, tuple[float, float]]] = {}
    for name in (name for name in columns if name != one and {name, one} <= varying):
        straight = pearsonr(columns[one], columns[name])
        answers[name] = {
            "Pearson": (float(straight.statistic), float(straight.pvalue)),
            "Spearman": by_ranks(columns[one], columns[name]),
        }
    return answers


def by_ranks(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """Spearman's correlation and its p-value: of few values the share of all orders that go together as far.

    >>> by_ranks([0.1, 0.2, 0.3], [9.0, 5.0, 4.0])  # two of six orders
    (-1.0, 0.3333333333333333)
    """
    import numpy as np
    from scipy.stats import rankdata, spearmanr

    if len(x) > EXACT:
        usual = spearmanr(x, y)
        return float(usual.statistic), float(usual.pvalue)
    one, other = (rankdata(values) - (len(x) + 1) / 2 for values in (x, y))
    product = float(one @ other)
    orders = np.array(list(permutations(other.tolist()))) @ one
    as_far = np.abs(orders) > abs(product) - 1e-9
    return product / float(np.sqrt((one @ one) * (other @ other))), float(as_far.mean())


def apart(one: Tensor, other: Tensor, metric: Metric) -> Tensor:
    """Distances of all rows: (n, d), (m, d) -> (n, m)."""
    # By differences: inner products lose the digits of small distances.
    parts = (
        torch.cdist(part, other, p=ORDERS[metric], compute_mode="donot_use_mm_for_euclid_dist")
        for part in torch.split(one, ROWS)
    )
    return torch.cat(list(parts))


def _of_directions(z: Tensor, labels: Tensor) -> dict[str, float]:
    """Measures by angles; the pi ratio needs a class with two items."""
    paired = bool(labels.bincount().amax() > 1)
    return {
        **({DENSITY: geometry.class_density(z, labels).ratio} if paired else {}),
        SEPARATION: geometry.class_separation(z, labels),
        DIRECTIONS: float(geometry.directions_of_variance(z)),
        DECAY: geometry.spectral_decay(z, truncated=True),
    }


def _linf_spread(points: Points) -> tuple[float, float]:
    """The mean squared distance between class means, and from the own mean, in linf."""
    centres = class_centres(points.x, points.labels, normalise=False)
    between = apart(centres.means, centres.means, "linf").square()
    own = (centres.features - centres.means[centres.labels]).abs().amax(1).square()
    count = len(centres.means)
    return float(between.sum() / (count * (count - 1))), float(centres.class_means(own).mean())


def _accuracies(points: Points, z: Tensor, queries: Tensor, metric: Metric) -> dict[str, float]:
    """The share of test items whose nearest training item, or nearest class mean, is of their class."""
    truth = [points.test.classes[label] for label in points.test.labels.tolist()]
    means = class_centres(z, points.labels, normalise=False).means.to(z)
    names = [points.train.classes[label] for label in torch.unique(points.labels).tolist()]
    own = [points.train.classes[label] for label in points.labels.tolist()]
    by_item = [own[place] for place in apart(queries, z, metric).argmin(1).tolist()]
    by_mean = [names[place] for place in apart(queries, means, metric).argmin(1).tolist()]
    return {
        NEIGHBOUR: sum(map(str.__eq__, by_item, truth)) / len(truth),
        MEAN: sum(map(str.__eq__, by_mean, truth)) / len(truth),
    }

"""Is the similarity of a space a metric? Its scores as distances, and the axioms they break."""

from typing import Literal

import torch
from torch import Tensor

from samekind.data.drawing import at_most
from samekind.decisions import Kind
from samekind.errors import DataError, SettingError
from samekind.inference.embed import asking, device_of, expect_finite
from samekind.measures import MetricAxioms, metric_breaches
from samekind.similarities import score_all
from samekind.space import MetricSpace

Order = Literal["one", "mean", "max"]


def metric_axioms(
    space: MetricSpace,
    z: Tensor,
    *,
    kind: Kind = "similarity",
    order: Order = "one",
    most_items: int = 1000,
    most_triples: int = 10_000_000,
    seed: int = 0,
) -> MetricAxioms:
    """Self-distances, asymmetry and triangle breaches of a space on embeddings (n, d).

    At most ``most_items`` items are drawn by the ``seed``; see `metric_breaches` for the triples. ``order``
    ``"mean"`` or ``"max"`` first combines the two orders of each pair, which leaves no asymmetry. The
    distances are those of `score_distances`.
    """
    if order not in ("one", "mean", "max"):
        raise SettingError(f'the order is "one", "mean" or "max"; got "{order}"')
    if min(len(z), most_items) < 3:
        raise DataError(f"triangles need three items or more; got {min(len(z), most_items)}")
    if len(z) > most_items:
        z = z[at_most(len(z), most_items, seed=seed)]
    scorer, z = space.scorer(kind), z.to(device_of(space))
    with asking(space):
        scores = score_all(scorer, z, z).double().cpu()
    if order == "mean":
        scores = (scores + scores.T) / 2
    elif order == "max":
        scores = torch.maximum(scores, scores.T)
    distances = score_distances(scores, scorer.quantity)
    expect_finite(distances)
    return metric_breaches(distances, most_triples=most_triples, seed=seed)


def score_distances(scores: Tensor, quantity: str) -> Tensor:
    """The scores of a similarity with this quantity as distances from 0 up.

    A logit or inner product becomes the probability 1 - sigmoid(score) of not being the same; a probability p
    becomes 1 - p, a cosine (1 - cosine) / 2; a negative (log-)distance becomes the distance.
    """
    match quantity:
        case "logit" | "inner product":
            return (-scores).sigmoid()
        case "probability":
            return 1 - scores
        case "cosine":
            return (1 - scores) / 2
        case "negative distance":
            return -scores
        case "log-distance":
            return (-scores).exp()
    raise SettingError(f'scores that are "{quantity}" have no distance')

"""The pictures of docs/losses.md, made anew.

    python benchmarks/draw_losses.py [--out docs/pictures]

One item moves, all others stand still: over the plane for losses of distances and inner products, around the
circle for losses of cosines. What is drawn is the mean loss of the whole batch and the way it pushes the item.
"""

import argparse
from collections.abc import Callable
from functools import partial
from inspect import signature
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from samekind import losses
from samekind.pairs import class_masks, pair_masks
from samekind.prototypes import pool
from samekind.reports import Confidence, Field, confidence_map, gradient_field, measure_field
from samekind.reports.style import PAPER
from samekind.similarities import Cosine, Dot, Euclidean, LogDistance, Similarity, SquaredEuclidean


def around(*degrees: float) -> Tensor:
    """Points of the unit circle."""
    turns = torch.deg2rad(torch.tensor(degrees, dtype=torch.double))
    return torch.stack([turns.cos(), turns.sin()], dim=1)


# Three classes; the moving item is of the first.
LABELS = torch.tensor([0, 0, 1, 1, 2, 2])
ON_PLANE = torch.tensor(
    [[-0.6, 0.2], [-0.15, 0.6], [0.2, 0.1], [0.7, 0.35], [-0.35, -0.4], [0.1, -0.85]], dtype=torch.double
)
ON_CIRCLE = around(75, 120, 15, 345, 195, 225)
PROTOTYPES_ON_PLANE = torch.tensor([[-0.6, 0.55], [0.8, 0.3], [-0.1, -0.95]], dtype=torch.double)
PROTOTYPES_ON_CIRCLE = around(100, 0, 210)
CENTRES_ON_CIRCLE = around(70, 130, 345, 15, 195, 225)


class Panel(NamedTuple):
    """A loss as it is drawn: what reads the points, and what the moving item is compared with."""

    loss: Callable[..., Tensor]
    similarity: Similarity
    against: str = "batch"
    note: str = ""


ON_THE_PLANE = {
    "contrastive": Panel(losses.contrastive, Euclidean()),
    "exponential_contrastive": Panel(losses.exponential_contrastive, Euclidean()),
    "triplet": Panel(losses.triplet, Euclidean()),
    "triplet, soft": Panel(partial(losses.triplet, soft=True, margin=0.0), Euclidean()),
    "quadruplet": Panel(losses.quadruplet, SquaredEuclidean()),
    "lifted_structure": Panel(losses.lifted_structure, Euclidean()),
    "generalised_lifted_structure": Panel(losses.generalised_lifted_structure, Euclidean()),
    "nca": Panel(losses.nca, SquaredEuclidean()),
    "n_pair": Panel(losses.n_pair, Dot()),
    "pair_likelihood": Panel(losses.pair_likelihood, Dot()),
    "softmax, squared": Panel(losses.softmax, SquaredEuclidean(), "prototypes"),
    "softmax, distance": Panel(losses.softmax, Euclidean(), "prototypes"),
    "softmax, ratio": Panel(losses.softmax, LogDistance(), "prototypes"),
}
ON_THE_CIRCLE = {
    "angular": Panel(losses.angular, Cosine()),
    "multi_similarity": Panel(losses.multi_similarity, Cosine()),
    "circle": Panel(losses.circle, Cosine()),
    "supervised_contrastive": Panel(losses.supervised_contrastive, Cosine()),
    "histogram": Panel(losses.histogram, Cosine()),
    "smooth_ap": Panel(losses.smooth_ap, Cosine()),
    "softmax (NormFace)": Panel(partial(losses.softmax, scale=10.0), Cosine(), "prototypes"),
    "additive_margin": Panel(losses.additive_margin, Cosine(), "prototypes"),
    "arc_face": Panel(losses.arc_face, Cosine(), "prototypes"),
    "sphere_face": Panel(losses.sphere_face, Cosine(), "prototypes"),
    "proxy_nca": Panel(losses.proxy_nca, SquaredEuclidean(normalise=True), "prototypes"),
    "proxy_anchor": Panel(losses.proxy_anchor, Cosine(), "prototypes"),
    "soft_triple": Panel(losses.soft_triple, Cosine(), "centres"),
    "corr": Panel(losses.corr, Cosine(), "prototypes"),
}


def field_of(panel: Panel, *, circle: bool) -> Field:
    """The moving item in its batch, or against its prototypes."""
    if panel.against == "batch":
        still = ON_CIRCLE if circle else ON_PLANE
        same = LABELS == 0
        cost = partial(batch_cost, panel, still)
    else:
        still = PROTOTYPES_ON_CIRCLE if circle else PROTOTYPES_ON_PLANE
        still = CENTRES_ON_CIRCLE if panel.against == "centres" else still
        same = torch.arange(len(still)) < len(still) // 3
        cost = partial(class_cost, panel, still)
    return measure_field(cost, same=still[same], different=still[~same], circle=circle)


def batch_cost(panel: Panel, still: Tensor, point: Tensor) -> Tensor:
    """The mean loss of the batch with the moving item in it."""
    z, y = torch.cat([point, still]), torch.cat([torch.tensor([0]), LABELS])
    scores = panel.similarity.score_all(z, z)
    more = {}
    if "between" in signature(panel.loss).parameters:
        more["between"] = scores.masked_fill(y[:, None] == y, -torch.inf)
    return panel.loss(scores, *pair_masks(y), **more).mean()


def class_cost(panel: Panel, still: Tensor, point: Tensor) -> Tensor:
    """The loss of the moving item against three classes with one or more prototypes each."""
    scores = panel.similarity.score_all(still, point).T.reshape(1, 3, -1)
    return panel.loss(pool(scores, "soft"), *class_masks(torch.tensor([0]), 3)).mean()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/pictures"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    figures = {
        "losses-plane": gradient_field(
            {name: field_of(panel, circle=False) for name, panel in ON_THE_PLANE.items()}
        ),
        "losses-circle": gradient_field(
            {name: field_of(panel, circle=True) for name, panel in ON_THE_CIRCLE.items()}
        ),
    }
    for name, figure in figures.items():
        figure.savefig(out / f"{name}.png", dpi=150, facecolor=PAPER, metadata={"Software": None})


if __name__ == "__main__":
    main()

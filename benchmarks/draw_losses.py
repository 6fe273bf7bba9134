"""The pictures of docs/losses.md, made anew.

    python benchmarks/draw_losses.py [--out FOLDER] [--only NAME ...]

The losses: one item moves and all others stand still, over the plane where a loss reads distances or inner
products, around the circle where it reads cosines. Drawn are the mean loss of the whole batch and the way it
pushes the item. The classifiers: how sure each is of one class. Takes a minute.
"""

import argparse
from collections.abc import Mapping
from functools import partial
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import torch
from PIL import Image
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
# Two for each class.
CENTRES_ON_CIRCLE = around(70, 130, 345, 15, 195, 225)

# Scales as the paper has them.
PLANE_FORMS, SPHERE_FORMS = {"squared": 1.0, "distance": 2.0, "ratio": 2.0}, ("normface", "ratio")


class Panel(NamedTuple):
    """A loss as it is drawn: what reads the points, and what the moving item is compared with."""

    name: str
    similarity: Similarity
    against: Literal["batch", "prototypes"] = "batch"
    settings: Mapping[str, Any] = MappingProxyType({})

    def title(self) -> str:
        """The loss; below it, small, the similarity, what is compared with and what is set."""
        read = type(self.similarity).__name__
        compared = [self.against] if self.against == "prototypes" else []
        return f"{self.name}\n" + ", ".join(
            [read, *compared, *(f"{name}={value}" for name, value in self.settings.items())]
        )


ON_THE_PLANE = (
    Panel("contrastive", Euclidean()),
    Panel("exponential_contrastive", Euclidean()),
    Panel("linear_contrastive", Euclidean(), settings={"positive_margin": 0.3}),
    Panel("margin_based", Euclidean(), settings={"boundary": 0.7}),
    Panel("ranked_list", Euclidean(), settings={"boundary": 0.8}),
    Panel("triplet", Euclidean()),
    Panel("triplet", Euclidean(), settings={"margin": 0.0, "soft": True}),
    Panel("swapped_triplet", Euclidean()),
    Panel("quadruplet", SquaredEuclidean()),
    Panel("lifted_structure", Euclidean()),
    Panel("generalised_lifted_structure", Euclidean()),
    Panel("supervised_contrastive", Euclidean()),
    Panel("nca", SquaredEuclidean()),
    Panel("softmax", SquaredEuclidean()),
    Panel("n_pair", Dot()),
    Panel("pair_likelihood", Dot()),
    Panel("large_margin", Dot(), "prototypes"),
    Panel("softmax", SquaredEuclidean(), "prototypes"),
    Panel("softmax", Euclidean(), "prototypes"),
    Panel("softmax", LogDistance(), "prototypes"),
)
ON_THE_CIRCLE = (
    Panel("angular", Cosine()),
    Panel("multi_similarity", Cosine()),
    Panel("circle", Cosine()),
    Panel("supervised_contrastive", Cosine()),
    Panel("histogram", Cosine(), settings={"bins": 20}),
    Panel("intra_pair_variance", Cosine()),
    Panel("smooth_ap", Cosine(), settings={"temperature": 0.1}),
    Panel("fast_ap", Cosine()),
    Panel("softmax", Cosine(), "prototypes", settings={"scale": 10}),
    Panel("additive_margin", Cosine(), "prototypes"),
    Panel("arc_face", Cosine(), "prototypes"),
    Panel("arc_face", Cosine(), "prototypes", settings={"margin": -0.5}),
    Panel("sphere_face", Cosine(), "prototypes"),
    Panel("soft_triple", Cosine(), "prototypes"),
    Panel("proxy_nca", SquaredEuclidean(normalise=True), "prototypes"),
    Panel("proxy_anchor", Cosine(), "prototypes"),
    Panel("corr", Cosine(), "prototypes"),
)
PICTURES = {
    "confidence-plane": lambda: confidence_map(
        [Confidence(form, 3, scale) for form, scale in PLANE_FORMS.items()]
    ),
    "confidence-circle": lambda: confidence_map(
        [Confidence(form, 2, surface="sphere") for form in SPHERE_FORMS]
    ),
    "confidence-sphere": lambda: confidence_map(
        [Confidence(form, 3, surface="sphere") for form in SPHERE_FORMS]
    ),
    "losses-plane": lambda: gradient_field({name.title(): field_of(name) for name in ON_THE_PLANE}),
    "losses-circle": lambda: gradient_field({name.title(): field_of(name) for name in ON_THE_CIRCLE}),
}


def field_of(panel: Panel) -> Field:
    """The moving item in its batch, or against the prototypes of the classes."""
    circle = panel in ON_THE_CIRCLE
    if panel.against == "batch":
        still, own = ON_CIRCLE if circle else ON_PLANE, LABELS == 0
        cost = partial(batch_cost, panel, still)
    else:
        still = PROTOTYPES_ON_CIRCLE if circle else PROTOTYPES_ON_PLANE
        still = CENTRES_ON_CIRCLE if panel.name == "soft_triple" else still
        own = torch.arange(len(still)) < len(still) // 3
        cost = partial(class_cost, panel, still)
    return measure_field(cost, same=still[own], different=still[~own], circle=circle)


def batch_cost(panel: Panel, still: Tensor, point: Tensor) -> Tensor:
    """The mean loss of the batch with the moving item in it."""
    loss = getattr(losses, panel.name)
    z, y = torch.cat([point, still]), torch.cat([torch.tensor([0]), LABELS])
    scores = panel.similarity.score_all(z, z)
    more = dict(panel.settings)
    if "between" in signature(loss).parameters:
        more["between"] = scores.masked_fill(y[:, None] == y, -torch.inf)
    return loss(scores, *pair_masks(y), **more).mean()


def class_cost(panel: Panel, still: Tensor, point: Tensor) -> Tensor:
    """The loss of the moving item against three classes with one or more prototypes each."""
    scores = panel.similarity.score_all(still, point).T.reshape(1, 3, -1)
    loss, more = getattr(losses, panel.name), dict(panel.settings)
    if "lengths" in signature(loss).parameters:
        more["lengths"] = point.norm(dim=1)[:, None] * still.norm(dim=1)
    return loss(pool(scores, "soft"), *class_masks(torch.tensor([0]), 3), **more).mean()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs" / "pictures")
    parser.add_argument("--only", choices=PICTURES, nargs="+", default=list(PICTURES))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.only:
        path = arguments.out / f"{name}.png"
        PICTURES[name]().savefig(path, dpi=120, facecolor=PAPER, metadata={"Software": None})
        if name.startswith("losses"):
            # Even bands of colour: a palette shows them as they are, in a third of the bytes.
            with Image.open(path) as picture:
                few = picture.convert("RGB").quantize(96, dither=Image.Dither.NONE)
            few.save(path, optimize=True)
        print(f"{path}: {path.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()

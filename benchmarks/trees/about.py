"""What a space, or anything that has vectors and class scores, says about the test items: all measures."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from samekind.measures import (
    average_hierarchical_distance,
    average_hierarchical_similarity,
    hierarchical_precision_at,
    hierarchical_similarity_at,
    mean_correlation,
    top_k_accuracy,
)
from samekind.measures.tree_correlation import chords
from samekind.prototypes import class_means

#: Neighbours that are looked at.
MOST = 250


def of_answers(scores: Tensor, truth: Tensor, distances: Tensor) -> dict[str, float]:
    """The measures of class scores (n, classes) on the CPU."""
    given = {"class_distances": distances}
    top = top_k_accuracy(scores, truth, ks=(1, 5))
    return {
        "top-1": top[1],
        "top-5": top[5],
        "AHD@1": average_hierarchical_distance(scores, truth, k=1, **given),
        "AHD@5": average_hierarchical_distance(scores, truth, k=5, **given),
        "severity": average_hierarchical_distance(scores, truth, only_mistakes=True, **given),
        "HP@5": hierarchical_precision_at(scores, truth, rule="text", **given),
        "HP@5, code": hierarchical_precision_at(scores, truth, rule="code", **given),
    }


def of_neighbours(z: Tensor, labels: Tensor, distances: Tensor) -> dict[str, float]:
    """The measures of test items searched in each other, by the cosine of their vectors (n, d)."""
    z = normalize(z.float(), dim=1)
    places = []
    for start in range(0, len(z), 1024):
        some = z[start : start + 1024] @ z.T
        some[torch.arange(len(some)), torch.arange(start, start + len(some))] = -torch.inf
        places.append(some.topk(min(MOST, len(z) - 1), dim=1).indices.cpu())
    neighbours = labels[torch.cat(places)]
    given = {"class_distances": distances}
    return {
        "HS@50": hierarchical_similarity_at(neighbours, labels, k=50, **given).mean,
        "HS@250": hierarchical_similarity_at(neighbours, labels, k=MOST, **given).mean,
        "AHS@250": average_hierarchical_similarity(neighbours, labels, k=MOST, **given).mean,
        "Recall@1": float((neighbours[:, 0] == labels).double().mean()),
    }


def of_vectors(vectors: Tensor, distances: Tensor, living: Tensor | None, *, name: str) -> dict[str, float]:
    """The mean correlations of the directions of class vectors (classes, d) with the tree."""
    return of_distances(chords(vectors.cpu()), distances, living, name=name)


def of_distances(apart: Tensor, distances: Tensor, living: Tensor | None, *, name: str) -> dict[str, float]:
    """The mean correlations of distances between classes (classes, classes) with those in the tree, with and
    without the diagonal, of all classes and of those that are alive.
    """
    values: dict[str, float] = {}
    for words, chosen in (("", None), (", living", living)):
        if words and chosen is None:
            continue
        some = slice(None) if chosen is None else chosen
        for suffix, diagonal in (("", True), (", no diagonal", False)):
            values[f"MC {name}{words}{suffix}"] = mean_correlation(
                apart[some][:, some], distances[some][:, some], include_diagonal=diagonal
            )
    return values


def prototypes_of(z: Tensor, labels: Tensor, classes: int, *, seed: int) -> Tensor:
    """The direction of the mean direction of each class's items; a random one for a class without items."""
    means, present = class_means(normalize(z.float(), dim=1), labels.to(z.device), classes)
    random = torch.randn(means.shape, generator=torch.Generator().manual_seed(seed)).to(means)
    return normalize(torch.where(present[:, None], means, random), dim=1)


def everything(
    scores: Tensor, test: Tensor, train: Tensor, proxies: Tensor | None, context: dict[str, Any]
) -> dict[str, float]:
    """All measures: of class scores (n, classes), of the vectors of test and training items, and of proxies
    (classes, d), where there are some.
    """
    distances, living, classes = context["distances"], context["living"], len(context["distances"])
    prototypes = prototypes_of(train, context["train labels"], classes, seed=context["seed"])
    truth = context["test labels"].cpu()
    return {
        **of_answers(scores.float().cpu(), truth, distances),
        **of_neighbours(test, truth, distances),
        **({} if proxies is None else of_vectors(proxies, distances, living, name="proxies")),
        **of_vectors(prototypes, distances, living, name="prototypes"),
    }

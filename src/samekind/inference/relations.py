"""How are the classes related? The scores of their prototypes with each other, and a tree of them."""

from typing import NamedTuple

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.errors import SpaceError
from samekind.inference.embed import asking
from samekind.space import MetricSpace


class Joined(NamedTuple):
    """Two groups of classes, by their names, that become one, and the mean score of their classes."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    score: float


def class_scores(space: MetricSpace, *, kind: Kind | None = None) -> Tensor:
    """The scores of all pairs of classes, the mean of both orders: (classes, classes), higher is closer.

    A class is the mean of its prototypes.
    """
    kind = kind or space.kind_for("classes")
    with asking(space):
        vectors = space.prototypes.vectors.mean(1)
        scores = space.score_all(vectors, vectors, kind=kind).double().cpu()
    return (scores + scores.T) / 2


def class_tree(space: MetricSpace, *, kind: Kind | None = None) -> list[Joined]:
    """The classes joined two groups at a time, the most similar first, by average linkage: n - 1 joins."""
    from scipy.cluster.hierarchy import linkage

    names = list(space.classes)
    if len(names) < 2:
        raise SpaceError(f"expected two classes or more, to be related; this space has {len(names)}")
    scores = class_scores(space, kind=kind)
    rows, columns = torch.triu_indices(len(names), len(names), offset=1)
    pairs = scores[rows, columns]
    highest = float(pairs.max())
    groups: list[tuple[str, ...]] = [(name,) for name in names]
    tree = []
    for first, second, distance, _ in linkage((highest - pairs).numpy(), method="average").tolist():
        one, other = groups[int(first)], groups[int(second)]
        groups.append((*one, *other))
        tree.append(Joined(one, other, highest - distance))
    return tree

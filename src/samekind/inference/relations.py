"""How are the classes related? The scores of their prototypes with each other, and a tree of them."""

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

from samekind.decisions import Kind
from samekind.errors import SpaceError
from samekind.inference.embed import asking
from samekind.space import MetricSpace
from samekind.taxonomy import Method, Tree, infer_tree


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


def class_distances(space: MetricSpace, *, kind: Kind | None = None) -> Tensor:
    """How far classes are apart: (classes, classes), float64, by how much two score below the highest score.

    By the cosine it is 1 - cosine, by a distance that distance. Raises SpaceError for a single class.
    """
    if len(space.classes) < 2:
        raise SpaceError(f"expected two classes or more, to be related; this space has {len(space.classes)}")
    scores = class_scores(space, kind=kind)
    return (scores.max() - scores).fill_diagonal_(0)


def class_tree(space: MetricSpace, *, kind: Kind | None = None, method: Method = "average") -> Tree:
    """The tree that the distances of the classes make; the classes are its leaves."""
    return infer_tree(class_distances(space, kind=kind), list(space.classes), method=method)


def joins(tree: Tree, scores: Tensor, classes: Sequence[str]) -> list[Joined]:
    """The joins of a tree of these classes, the most similar first; the scores are (classes, classes).

    A node with more than two branches joins them one after the other.
    """
    places = {name: place for place, name in enumerate(classes)}
    below: list[tuple[str, ...]] = [()] * len(tree.names)
    joined: list[Joined] = []
    for place in range(len(tree.names) - 1, -1, -1):  # children before their parents
        groups = [below[child] for child in tree.children_places[place]] or [(tree.names[place],)]
        for group in groups:
            if first := below[place]:
                rows, columns = ([places[name] for name in names] for names in (first, group))
                joined.append(Joined(first, group, float(scores[rows][:, columns].mean())))
            below[place] += group
    return sorted(joined, key=lambda join: -join.score)

"""How are the classes related?"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from samekind.decisions import Kind
from samekind.inference import class_tree
from samekind.inference.relations import Joined, class_scores, joins
from samekind.questions.reading import known_kind
from samekind.space import MetricSpace
from samekind.taxonomy import Tree


class Alike(NamedTuple):
    """Another class and its score."""

    name: str
    score: float


@dataclass(frozen=True)
class Related:
    """The classes most like each class, best first, and the tree they join into (average linkage), with its
    joins, the most alike first.
    """

    kind: Kind
    alike: dict[str, tuple[Alike, ...]]
    tree: Tree
    joins: tuple[Joined, ...]

    def to_json(self) -> dict[str, Any]:
        alike = {
            name: [{"class": other.name, "score": other.score} for other in others]
            for name, others in self.alike.items()
        }
        return {"kind": self.kind, "alike": alike, "tree": [join._asdict() for join in self.joins]}


def classes(space: MetricSpace, *, kind: str | None = None, k: int = 3) -> Related:
    """The k classes most like each class, and how all of them join into a tree, by a kind of score or by the
    space's choice for classes.
    """
    score = known_kind(space, kind, "classes")
    tree, names = class_tree(space, kind=score), space.classes
    scores = class_scores(space, kind=score)
    joined = joins(tree, scores, names)
    best = scores.fill_diagonal_(-float("inf")).topk(min(k, len(names) - 1))
    rows = zip(names, best.indices.tolist(), best.values.tolist(), strict=True)
    alike = {
        name: tuple(Alike(names[i], value) for i, value in zip(*row, strict=True)) for name, *row in rows
    }
    return Related(score, alike, tree, tuple(joined))

"""Errors class by class: classes in the wrong place of the space, the share of items that are named rightly,
and the classes they are confused with.
"""

from collections import Counter
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data import Items
from samekind.evaluation.classification import predicted_labels
from samekind.inference.known_classes import knows
from samekind.inference.relations import class_scores
from samekind.space import MetricSpace
from samekind.taxonomy import Tree

#: The most classes that are listed as confused with a class.
CONFOUNDERS = 3


class Misplaced(NamedTuple):
    """A class whose most similar class in the space is far in the tree: the steps to it, and those to its
    nearest relative.
    """

    name: str
    neighbour: str
    steps: float
    nearest: float

    @property
    def sentence(self) -> str:
        return f"{self.name} beside {self.neighbour} ({self.steps:g} steps in the tree)"


def misplaced(space: MetricSpace) -> list[Misplaced]:
    """The classes whose most similar class in the space is not one of their nearest relatives in the tree,
    those that are farthest from it first; none without a tree.
    """
    if space.tree is None or len(space.classes) < 3:
        return []
    scores = class_scores(space).fill_diagonal_(-torch.inf)
    steps = space.tree.distances(space.classes)
    beside = scores.argmax(1)
    least = (steps + torch.diag(torch.full((len(steps),), torch.inf))).min(1).values
    rows = zip(space.classes, beside.tolist(), least.tolist(), strict=True)
    candidates = [
        Misplaced(name, space.classes[other], float(steps[place, other]), nearest)
        for place, (name, other, nearest) in enumerate(rows)
    ]
    wrong = [row for row in candidates if row.steps > row.nearest * (1 + 1e-9)]
    return sorted(wrong, key=lambda row: (row.nearest - row.steps, row.name))


class ClassRecall(NamedTuple):
    """A class, its items, the share named rightly, its F1 (lower if other items get its name),
    and the classes that its items were taken for, with counts and steps in the tree (None without one).
    """

    name: str
    items: int
    recall: float
    f1: float
    confounders: tuple[tuple[str, int, float | None], ...]


def class_recalls(space: MetricSpace, items: Items, z: Tensor) -> list[ClassRecall]:
    """The recall of every class that has items, lowest first; of equal recalls the larger class first. Empty
    if the space does not know the classes.
    """
    if not knows(space, items):
        return []
    labels, predicted = items.labels.cpu(), predicted_labels(space, items, z)
    rows = []
    for label in torch.unique(labels).tolist():
        answers = predicted[labels == label].tolist()
        counts = Counter(other for other in answers if other != label).most_common(CONFOUNDERS)
        name = items.classes[label]
        confounders = tuple(
            (confounder, count, _steps(space.tree, name, confounder))
            for other, count in counts
            for confounder in [items.classes[other] if other >= 0 else "another"]
        )
        right = answers.count(label)
        f1 = 2 * right / (len(answers) + int((predicted == label).sum()))
        rows.append(ClassRecall(name, len(answers), right / len(answers), f1, confounders))
    return sorted(rows, key=lambda row: (row.recall, -row.items, row.name))


def _steps(tree: Tree | None, first: str, second: str) -> float | None:
    if tree is None or first not in tree or second not in tree:
        return None
    return float(tree.distances([first, second])[0, 1])

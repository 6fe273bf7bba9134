"""Class by class: wrong places and confusions, against counting by hand."""

import pytest
import torch
from torch import nn

from samekind.data import Items
from samekind.evaluation import class_recalls, misplaced, predicted_labels
from samekind.measures.classification import f1_by_class
from samekind.prototypes import SupportMeans
from samekind.similarities import Euclidean
from samekind.space import MetricSpace
from samekind.taxonomy import Tree

NAMES = ("cat", "dog", "shark", "ray")
TREE = Tree(("animals", "mammals", "fish", *NAMES), (-1, 0, 0, 1, 1, 2, 2))


@pytest.fixture
def space():
    """The shark stands beside the cat, far from the ray."""
    known = SupportMeans(dimension=1)
    known.assign(list(NAMES), torch.tensor([0.0, 3.0, 1.0, 9.0])[:, None, None])
    space = MetricSpace(nn.Identity(), Euclidean(), known).eval()
    space.tree = TREE
    return space


def test_a_class_beside_a_stranger_is_in_the_wrong_place(space):
    rows = misplaced(space)
    assert [(row.name, row.neighbour, row.steps, row.nearest) for row in rows] == [
        ("cat", "shark", 4, 2),
        ("dog", "shark", 4, 2),
        ("ray", "dog", 4, 2),
        ("shark", "cat", 4, 2),
    ]
    assert rows[0].sentence == "cat beside shark (4 steps in the tree)"
    space.prototypes.assign(list(NAMES), torch.tensor([0.0, 1.0, 8.0, 9.0])[:, None, None])
    assert misplaced(space) == []
    space.tree = None
    assert misplaced(space) == []


def test_recall_and_what_a_class_is_taken_for(space):
    places = torch.tensor([0.1, 0.9, 1.1, 2.9, 3.1, 1.0, 9.0])[:, None]
    items = Items(places, torch.tensor([0, 0, 0, 1, 1, 2, 3]), NAMES, "some")
    rows = class_recalls(space, items, places)
    assert rows[0] == ("cat", 3, pytest.approx(1 / 3), 0.5, (("shark", 2, 4.0),))
    assert [(row.name, row.recall) for row in rows[1:]] == [("dog", 1), ("ray", 1), ("shark", 1)]
    predicted = predicted_labels(space, items, places)
    by_class = f1_by_class(predicted, items.labels, classes=4)
    assert [row.f1 for row in rows] == pytest.approx([float(by_class[NAMES.index(row.name)]) for row in rows])
    space.tree = None
    assert class_recalls(space, items, places)[0].confounders == (("shark", 2, None),)
    space.remove("ray")
    assert class_recalls(space, items, places) == []


def test_a_class_that_the_items_lack_is_another(space):
    items = Items(torch.tensor([[1.0], [0.0]]), torch.tensor([0, 0]), ("cat",), "cats")
    assert class_recalls(space, items, items.inputs) == [
        ("cat", 2, 0.5, pytest.approx(2 / 3), (("another", 1, None),))
    ]

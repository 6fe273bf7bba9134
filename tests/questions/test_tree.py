"""The tree of a space: its classes, its agreement with a known one, and the mistakes about items."""

import pytest
import torch
from torch import nn

from samekind.data import Items
from samekind.errors import DataError
from samekind.prototypes import SupportMeans
from samekind.questions import tree
from samekind.similarities import Euclidean
from samekind.space import MetricSpace
from samekind.taxonomy import tree_of_paths

NAMES = ["dog", "cat", "shark", "ray", "fern", "moss"]
POINTS = torch.tensor([[0.0, 0], [1, 0], [8, 0], [9.5, 0], [4, 30], [5, 32]])
KNOWN = tree_of_paths(
    {
        name: [branch, name]
        for name, branch in zip(
            NAMES, ["mammals", "mammals", "fish", "fish", "plants", "plants"], strict=True
        )
    }
)


@pytest.fixture
def space():
    prototypes = SupportMeans(NAMES, dimension=2)
    prototypes.assign(NAMES, POINTS[:, None])
    return MetricSpace(nn.Identity(), Euclidean(), prototypes)


def test_a_space_laid_out_as_its_tree_agrees_with_it(space):
    answer = tree(space, known=KNOWN)
    assert sorted(answer.tree.leaves()) == sorted(NAMES)
    assert answer.agreement.splits == (0, 0, 3)
    assert answer.agreement.correlation > 0.6
    assert abs(answer.agreement.correlation_by_chance) < 0.3
    assert answer.agreement.splits_by_chance > 0.5
    content = answer.to_json()
    assert content["agreement"]["robinson_foulds"] == 0
    assert content["newick"].endswith(";")
    assert (content["method"], content["kind"], content["mistakes"]) == (
        "neighbour-joining",
        "similarity",
        {},
    )


def test_without_a_known_tree_there_is_no_agreement(space):
    assert tree(space, method="average").to_json()["agreement"] is None


def test_mistakes_are_counted_and_may_make_the_tree(space):
    inputs = POINTS[[0, 0, 1, 2, 3, 4, 5, 5]]
    items = Items(inputs, torch.tensor([0, 1, 1, 2, 3, 4, 5, 4]), tuple(NAMES), "items")
    answer = tree(space, items=items, by_confusions=True, method="average")
    assert answer.mistakes == {"dog": 0, "cat": 0.5, "shark": 0, "ray": 0, "fern": 0.5, "moss": 0}
    assert answer.tree.distances(["dog", "cat", "ray"])[0].tolist() == pytest.approx([0, 0.5, 1])
    with pytest.raises(DataError, match="labelled items; give some"):
        tree(space, by_confusions=True)
    other = Items(inputs[:1], torch.tensor([0]), ("bird",), "others")
    with pytest.raises(DataError, match="it does not know bird: leave"):
        tree(space, items=other)


def test_a_known_tree_without_a_class_is_refused(space):
    with pytest.raises(DataError, match="1 class is not in the tree: moss"):
        tree(space, known=KNOWN.subtree(NAMES[:-1]))

"""The way down a tree: against plain recursion, and what a level gives."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from samekind.taxonomy import Descent, Tree

#: "mammals" is a class and has classes below it; "lone" has a single child.
TREE = Tree(
    ("animals", "mammals", "fish", "cat", "dog", "shark", "ray", "lone", "coral", "empty"),
    (-1, 0, 0, 1, 1, 2, 2, 0, 7, 0),
)
CLASSES = ["cat", "dog", "mammals", "shark", "ray", "coral"]
ABOVE = {name: set(TREE.path(name)) for name in CLASSES}


def drawn(seed, n=6):
    sharp = 3 * torch.randn(n, len(CLASSES), generator=torch.Generator().manual_seed(seed))
    return sharp.softmax(1)


def by_hand(row, level):
    """Walk from the root to the most probable child while it is probable enough."""
    of_nodes = {
        node: sum(float(p) for p, name in zip(row, CLASSES, strict=True) if node in ABOVE[name])
        for node in TREE.names
    }
    at = "animals"
    while children := TREE.children(at):
        best = max(children, key=of_nodes.__getitem__)
        if of_nodes[best] < level or of_nodes[best] == 0:
            break
        at = best
    return at


@given(seed=st.integers(0, 1000), level=st.floats(0.05, 1))
def test_ends_where_a_walk_by_hand_ends(seed, level):
    probabilities = drawn(seed)
    way = Descent(TREE, CLASSES, probabilities)
    nodes, _ = way.ends(level)
    assert way.names(nodes) == [by_hand(row, level) for row in probabilities.double()]


@given(seed=st.integers(0, 1000))
def test_a_higher_level_answers_with_a_node_above_and_is_right_more_often(seed):
    way, truth = Descent(TREE, CLASSES, drawn(seed)), torch.arange(6)
    right = []
    for level in (0.1, 0.5, 0.7, 0.9, 0.99):
        nodes, values = way.ends(level)
        assert ((values >= level) | (nodes == 0)).all()
        right.append(
            [node in ABOVE[CLASSES[label]] for node, label in zip(way.names(nodes), truth, strict=True)]
        )
    for lower, higher in pairwise(right):
        assert all(after or not before for before, after in zip(lower, higher, strict=True))


def test_is_above_says_which_nodes_of_a_way_are_right():
    way = Descent(TREE, CLASSES, torch.tensor([[0.6, 0.3, 0.05, 0.05, 0, 0]]))
    assert way.names(way.nodes[0]) == ["animals", "mammals", "cat"]
    assert way.probabilities[0].tolist() == pytest.approx([1, 0.95, 0.6])
    for name, expected in (
        ("cat", [True, True, True]),
        ("dog", [True, True, False]),
        ("ray", [True, False, False]),
    ):
        assert way.are_above(torch.tensor([CLASSES.index(name)])).tolist() == [expected]
    assert way.are_above(torch.tensor([CLASSES.index("mammals")])).tolist() == [[True, True, False]]


def test_an_inner_node_has_children():
    way = Descent(TREE, CLASSES, torch.tensor([[1.0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1.0]]))
    assert way.names(way.ends(0.5)[0]) == ["cat", "coral"]
    assert way.names(way.inner(0.5)) == ["mammals", "lone"]
    assert Descent(Tree(("only",), (-1,)), ["only"], torch.ones(1, 1)).inner(0.5).tolist() == [0]

"""Trees from parents and from paths: what they give, and what is refused."""

import pytest

from samekind.errors import DataError
from samekind.taxonomy import tree_of_parents, tree_of_paths


def test_parents_in_any_order():
    tree = tree_of_parents({"b1": "b", "b": "a", "c": "a"}, lengths={"b": 0.5})
    assert tree.names == ("a", "b", "c", "b1")
    assert tree.lengths == (0, 0.5, 1, 1)
    assert tree == tree_of_parents({"a": None, "b": "a", "c": "a", "b1": "b"}, lengths={"b": 0.5})


def test_two_roots_and_circles_are_refused_with_the_nodes():
    with pytest.raises(DataError, match='2 nodes have no parent, such as "x" and "y"'):
        tree_of_parents({"a": "x", "b": "y"})
    with pytest.raises(DataError, match='in a circle: "b" under "c" under "b"'):
        tree_of_parents({"a": None, "d": "b", "b": "c", "c": "b"})
    with pytest.raises(DataError, match='circle: "a" under "a"'):
        tree_of_parents({"a": "a"})
    with pytest.raises(DataError, match="it is empty"):
        tree_of_parents({})


def test_a_large_circle_is_described_briefly():
    circle = {str(place): str((place + 1) % 1000) for place in range(1000)}
    with pytest.raises(
        DataError, match=r'"0" under "1" under .* under … under "0"; correct the parent of one of them$'
    ):
        tree_of_parents(circle)


def test_a_class_may_stand_at_an_inner_node():
    tree = tree_of_paths({"copepods": ["all", "copepods"], "calanoids": ["all", "copepods", "calanoids"]})
    assert tree.distances(["copepods", "calanoids"])[0, 1] == 1
    assert tree.leaves() == ("calanoids",)


def test_paths_that_begin_differently_meet_at_a_root():
    tree = tree_of_paths({"a": ["x", "a"], "b": ["y", "z", "b"]})
    assert tree.root == "root"
    assert tree.distances(["a", "b"])[0, 1] == 5


def test_a_path_may_call_the_class_something_else():
    tree = tree_of_paths({"wolf": ["Canis", "Canis lupus"], "fox": ["Vulpes", "Vulpes vulpes"]})
    assert tree.path("wolf") == ("root", "Canis", "wolf")


def test_shared_paths_are_those_of_the_parents():
    tree = tree_of_paths({"wolf": ["dogs"], "jackal": ["dogs"], "lynx": ["cats"], "cats": ["cats"]})
    assert tree.path("wolf") == ("root", "dogs", "wolf")
    assert tree.path("lynx") == ("root", "cats", "lynx")
    assert tree.path("cats") == ("root", "cats")


def test_nodes_of_one_name_are_distinguished_by_their_paths():
    tree = tree_of_paths({"a": ["x", "other", "a"], "b": ["y", "other", "b"], "y/other": ["x", "c"]})
    assert tree.path("a") == ("root", "x", "root/x/other", "a")
    assert tree.path("b") == ("root", "y", "root/y/other", "b")
    again = tree_of_paths({"x": ["top", "x", "low"], "b": ["top", "x", "b"]})
    assert again.path("x") == ("top", "top/x", "x")


def test_refused_paths_name_the_class():
    with pytest.raises(DataError, match="got none"):
        tree_of_paths({})
    with pytest.raises(DataError, match='for the class "a"; got "x//a"'):
        tree_of_paths({"a": ["x", "", "a"]})
    with pytest.raises(DataError, match='"a" is there twice'):
        tree_of_paths({"b": ["a"] * 1000 + ["b"]})


def test_a_long_path_is_no_matter():
    assert tree_of_paths({"leaf": [str(step) for step in range(100_000)]}).depth("leaf") == 99_999

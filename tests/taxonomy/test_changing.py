"""A leaf more, and another name: the rest of the tree stays as it was."""

import pytest

from samekind.errors import DataError
from samekind.taxonomy import Tree, grown, renamed

TREE = Tree(("animals", "mammals", "cat", "dog", "shark"), (-1, 0, 1, 1, 0), (1, 2, 1, 3, 4))


def test_a_new_leaf_is_as_far_as_its_siblings_on_average():
    tree = grown(TREE, {"fox": "mammals"})
    assert tree.parent("fox") == "mammals"
    assert tree.lengths[tree.place("fox")] == 2
    assert tree.subtree(["cat", "dog", "shark"]) == TREE
    assert grown(TREE, {"tabby": "cat"}).distances(["tabby", "cat"]).tolist() == [[0, 1], [1, 0]]


def test_many_leaves_at_once_are_as_one_after_the_other():
    under = {"fox": "mammals", "ray": "animals", "vixen": "fox", "cub": "fox", "wolf": "mammals"}
    tree = TREE
    for name, above in under.items():
        tree = grown(tree, {name: above})
    assert grown(TREE, under) == tree
    assert grown(TREE, {}) == TREE


def test_a_node_gets_another_name():
    tree = renamed(TREE, "mammals", "beasts")
    assert tree.children("beasts") == ("cat", "dog")
    assert renamed(tree, "beasts", "mammals") == TREE
    assert renamed(TREE, "cat", "cat") == TREE


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda: grown(TREE, {"cat": "animals"}), '"cat" is in the tree already, under "mammals"'),
        (lambda: grown(TREE, {"animals": "cat"}), '"animals" is in the tree already, as its root'),
        (lambda: grown(TREE, {"fox": "mamals"}), 'got "mamals"; .*mammals'),
        (lambda: renamed(TREE, "cat", "dog"), '"dog" is in the tree already'),
        (lambda: renamed(TREE, "fox", "wolf"), 'got "fox"'),
    ],
)
def test_refuses_what_gives_no_tree(change, says):
    with pytest.raises(DataError, match=says):
        change()

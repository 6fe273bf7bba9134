"""The tree of the classes of items: each class is a node, and a leaf without items is told."""

from dataclasses import replace

import pytest

from samekind.data import digits, prepare
from samekind.data.class_tree import expect_classes, leaves_without_items
from samekind.errors import DataError, SettingError
from samekind.taxonomy import Tree, tree_of_paths

ROUND, STRAIGHT = "0689", "123457"
TREE = tree_of_paths(
    {name: ["digits", "round" if name in ROUND else "straight", name] for name in sorted(ROUND + STRAIGHT)}
)


def test_items_and_their_sets_have_the_tree():
    items = replace(digits(), tree=TREE)
    assert prepare(items).tree == TREE
    assert items.take(items.labels < 3).tree == TREE
    assert items.fingerprint() == digits().fingerprint()
    assert prepare(digits()).tree is None


def test_a_class_that_is_missing_is_named():
    small = TREE.subtree("012")
    with pytest.raises(DataError, match=r"7 classes are not in the tree: 3, 4, 5, 6, 7 and 2 more; add each"):
        replace(digits(), tree=small)
    with pytest.raises(SettingError, match="expected a tree, such as read_tree"):
        expect_classes({"a": "b"}, ["a"])


def test_a_leaf_without_items_is_reported():
    assert leaves_without_items(TREE, digits().classes) == ""
    assert (
        leaves_without_items(TREE, "0123") == "6 leaves of the tree have no items: 6, 8, 9, 4, 5 and 1 more"
    )
    assert isinstance(TREE, Tree)

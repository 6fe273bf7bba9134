"""The tree of the classes of some items: whether every class is in it, and which leaves no item has."""

from collections.abc import Collection

from samekind.data.words import counted, listed
from samekind.errors import DataError, expect
from samekind.taxonomy import Tree

#: So many missing classes are named.
NAMED = 5


def expect_classes(tree: Tree, classes: Collection[str]) -> None:
    """Raises DataError if a class is no node of the tree, with up to five of them."""
    expect(tree, Tree, "a tree, such as read_tree(file)")
    missing = [name for name in classes if name not in tree]
    if missing:
        raise DataError(
            f"{counted(len(missing), 'class is', 'classes are')} not in the tree: "
            f"{listed(missing, most=NAMED)}; add each to the file of the tree, under its spelling here, or "
            "leave its items out (data.classes)"
        )


def leaves_without_items(tree: Tree, classes: Collection[str]) -> str:
    """A sentence about the leaves of a tree that have no items; empty if all have.

    >>> from samekind.taxonomy import tree_of_parents
    >>> leaves_without_items(tree_of_parents({"cat": "mammals", "dog": "mammals"}), ["cat"])
    '1 leaf of the tree has no items: dog'
    """
    present = set(classes)
    empty = [name for name in tree.leaves() if name not in present]
    if not empty:
        return ""
    count = counted(len(empty), "leaf of the tree has", "leaves of the tree have")
    return f"{count} no items: {listed(empty, most=NAMED)}"

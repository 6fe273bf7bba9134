"""The tree of the classes of some items: whether every class is in it, and which leaves no item has."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from samekind.data.words import counted, listed
from samekind.errors import DataError, expect
from samekind.taxonomy import Tree, read_tree

if TYPE_CHECKING:
    from samekind.data.items import Items

#: So many missing classes are named.
NAMED = 5


def with_taxonomy(items: "Items", path: str) -> "Items":
    """The items with the tree in a file, and a note on leaves that have no items. Raises DataError for a file
    that is no tree, or lacks a class.
    """
    tree = read_class_tree(path, items.classes)
    present = [items.classes[label] for label in torch.unique(items.labels).tolist()]
    note = leaves_without_items(tree, present)
    return replace(items, tree=tree, notes=(*items.notes, *([note] if note else [])))


def read_class_tree(path: str | Path, classes: Collection[str]) -> Tree:
    """The tree in a file. Raises DataError for a file that is no tree, or lacks one of the classes."""
    tree = read_tree(path)
    try:
        expect_classes(tree, classes)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    return tree


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

"""A tree with one node more, or with another name for one."""

from samekind.errors import DataError
from samekind.taxonomy.tree import Tree


def grown(tree: Tree, name: str, *, under: str) -> Tree:
    """The tree with a new leaf under a node, as far from it as its other children are on average.

    Raises DataError for a name that is there already, and for an unknown node.

    >>> tree = Tree(("animals", "cat"), (-1, 0))
    >>> grown(tree, "dog", under="animals").children("animals")
    ('cat', 'dog')
    """
    if name in tree:
        raise DataError(f'"{name}" is in the tree already, {_stands(tree, name)}; choose another name')
    place = tree.place(under)
    siblings = [tree.lengths[child] for child in tree.children_places[place]]
    length = sum(siblings) / len(siblings) if siblings else 1.0
    return Tree((*tree.names, name), (*tree.parents, place), (*tree.lengths, length))


def renamed(tree: Tree, old: str, new: str) -> Tree:
    """The tree with another name for one of its nodes. Raises DataError if another node has that name.

    >>> renamed(Tree(("animals", "cat"), (-1, 0)), "cat", "lynx").leaves()
    ('lynx',)
    """
    place = tree.place(old)
    if new in tree and new != old:
        raise DataError(f'"{new}" is in the tree already, {_stands(tree, new)}; choose another name')
    return Tree((*tree.names[:place], new, *tree.names[place + 1 :]), tree.parents, tree.lengths)


def _stands(tree: Tree, name: str) -> str:
    above = tree.parent(name)
    return "as its root" if above is None else f'under "{above}"'

"""A tree with more leaves, or with another name for one of its nodes."""

from collections.abc import Mapping

from samekind.errors import DataError
from samekind.taxonomy.tree import Tree


def grown(tree: Tree, under: Mapping[str, str]) -> Tree:
    """The tree with new leaves, each ``under`` a node of the tree or a leaf before it, as far from it as the
    other children there are on average.

    Raises DataError for a name that is there already, and for an unknown node.

    >>> grown(Tree(("animals", "cat"), (-1, 0)), {"dogs": "animals", "poodle": "dogs"}).path("poodle")
    ('animals', 'dogs', 'poodle')
    """
    names, parents, lengths = list(tree.names), list(tree.parents), list(tree.lengths)
    places: dict[str, int] = {}
    # Once for each node: a leaf at the mean length of the others does not change the mean.
    means: dict[int, float] = {}
    for name, above in under.items():
        if name in tree:
            raise DataError(f'"{name}" is in the tree already, {_stands(tree, name)}; choose another name')
        place = places[above] if above in places else tree.place(above)
        if place not in means:
            means[place] = _mean_length(tree, place)
        places[name] = len(names)
        names.append(name)
        parents.append(place)
        lengths.append(means[place])
    return Tree(tuple(names), tuple(parents), tuple(lengths))


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


def _mean_length(tree: Tree, place: int) -> float:
    """The mean length of the edges to the children of a node; 1 for a leaf, and for a node that is new."""
    children = tree.children_places[place] if place < len(tree.names) else ()
    return sum(tree.lengths[child] for child in children) / len(children) if children else 1.0

"""Trees from who is whose parent, and from the paths of classes."""

import itertools
from collections.abc import Mapping, Sequence

from samekind.errors import DataError
from samekind.taxonomy.tree import Tree

#: The steps of a path that may tell apart two nodes of one name.
LONGEST_PATH = 200


def tree_of_parents(parents: Mapping[str, str | None], *, lengths: Mapping[str, float] | None = None) -> Tree:
    """The tree in which each node has this parent, in any order; the root has None, or is only a parent.

    ``lengths`` are those of the edges to the parents, 1 each without them. Raises DataError for no root or
    several, and for nodes in a circle.

    >>> tree_of_parents({"cat": "mammals", "mammals": "animals"}).path("cat")
    ('animals', 'mammals', 'cat')
    """
    only_parents = {name for name in parents.values() if name is not None and name not in parents}
    names = [*(name for name in parents.values() if name in only_parents), *parents]
    names = list(dict.fromkeys(name for name in names if name is not None))
    places = {name: place for place, name in enumerate(names)}
    above = [-1 if (parent := parents.get(name)) is None else places[parent] for name in names]
    return tree_of_places(
        names, above, None if lengths is None else [lengths.get(name, 1.0) for name in names]
    )


def tree_of_places(
    names: Sequence[str | None], parents: Sequence[int], lengths: Sequence[float] | None = None
) -> Tree:
    """The tree of nodes in any order, whose parents are places in it (-1 for the root), level by level.

    Nodes without a name are called "node 1", "node 2", … in the order of the tree.

    Raises DataError as `tree_of_parents` does.
    """
    below: list[list[int]] = [[] for _ in names]
    order: list[int] = []
    for place, above in enumerate(parents):
        (below[above] if above >= 0 else order).append(place)
    if len(order) > 1:
        raise DataError(
            f'expected one root; {len(order)} nodes have no parent, such as "{names[order[0]]}" and '
            f'"{names[order[1]]}": put them under one node'
        )
    for place in order:
        order += below[place]
    if len(order) < len(names):
        lost = next(iter(set(range(len(names))).difference(order)))
        raise DataError(
            f"expected a tree; {_circle(names, parents, lost)}; correct the parent of one of them"
        )
    moved = {place: new for new, place in enumerate(order)} | {-1: -1}
    return Tree(
        tuple(with_names([names[place] for place in order])),
        tuple(moved[parents[place]] for place in order),
        tuple(lengths[place] for place in order) if lengths is not None else (),
    )


def tree_of_paths(paths: Mapping[str, Sequence[str]]) -> Tree:
    """The tree of classes whose paths are given, from the top down.

    A path ends at its class, whatever it calls it: the node has the class's name. Where classes share one
    path, the paths are taken for their parents', unless they end in the class's own name. Paths that begin
    differently get a common root. Nodes of one name in different places are distinguished by their whole
    paths.

    >>> tree_of_paths({"wolf": ["animals", "Canis lupus"], "fern": ["plants", "fern"]}).names
    ('root', 'animals', 'plants', 'wolf', 'fern')
    """
    if not paths:
        raise DataError("expected the path of a class or more; got none")
    ends = [tuple(path) for path in paths.values()]
    shared = len(set(ends)) < len(ends)
    labels, above = ["root"], [-1]
    known: dict[tuple[int, str], int] = {}
    classes: dict[int, str] = {}
    for name, path in paths.items():
        if not path or not all(path):
            raise DataError(
                f'expected a path without empty steps for the class "{name}"; got "{"/".join(path)}"'
            )
        place = 0
        for label in (*path, name) if shared and path[-1] != name else path:
            if (place, label) not in known:
                known[place, label] = len(labels)
                labels.append(label)
                above.append(place)
            place = known[place, label]
        if place in classes:
            raise DataError(
                f'expected a place for each class; "{classes[place]}" and "{name}" have the same path'
            )
        classes[place] = name
    if above.count(0) == 1:  # the paths have a root of their own
        labels, above = labels[1:], [place - 1 for place in above[1:]]
        above[0] = -1
        classes = {place - 1: name for place, name in classes.items()}
    return tree_of_places(_unique(labels, above, classes), above)


def _circle(names: Sequence[str | None], parents: Sequence[int], place: int) -> str:
    """The circle that a node leads to, in words."""
    seen: dict[int, int] = {}
    while place not in seen:
        seen[place] = len(seen)
        place = parents[place]
    way = [*list(seen)[seen[place] :], place]
    shown = [f'"{names[step]}"' for step in way]
    return "these nodes stand in a circle: " + " under ".join(
        shown if len(shown) < 8 else [*shown[:6], "…", shown[-1]]
    )


def _unique(labels: Sequence[str], above: Sequence[int], classes: Mapping[int, str]) -> list[str]:
    """A name for each node: its class's, or its label, or its whole path where the label is taken."""
    taken = set(classes.values())
    counts: dict[str, int] = {}
    for place, label in enumerate(labels):
        if place not in classes:
            counts[label] = counts.get(label, 0) + 1
    names = []
    for place, label in enumerate(labels):
        name = classes.get(place, label)
        if place not in classes and (label in taken or counts[label] > 1):
            steps, at = [label], above[place]
            while at >= 0:
                if len(steps) == LONGEST_PATH:
                    raise DataError(
                        f'expected a name once below {LONGEST_PATH} levels; "{label}" is there twice'
                    )
                steps.append(labels[at])
                at = above[at]
            name = "/".join(reversed(steps))
            while name in taken or counts.get(name, 0):
                name += "'"
            taken.add(name)
        names.append(name)
    return names


def with_names(names: Sequence[str | None]) -> list[str]:
    """The names, with "node 1", "node 2", … in place of those that are missing."""
    taken = {name for name in names if name is not None}
    free = (name for number in itertools.count(1) if (name := f"node {number}") not in taken)
    return [next(free) if name is None else name for name in names]

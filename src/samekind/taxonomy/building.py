"""Trees from who is whose parent, and from the paths of classes."""

from collections.abc import Iterable, Mapping, Sequence

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
    above: dict[str, str | None] = {parent: None for parent in parents.values() if parent is not None}
    above = {**dict.fromkeys(name for name in above if name not in parents), **parents}
    below: dict[str | None, list[str]] = {}
    for name, parent in above.items():
        below.setdefault(parent, []).append(name)
    roots = below.get(None, [])
    if len(roots) > 1:
        raise DataError(
            f'expected one root; {len(roots)} nodes have no parent, such as "{roots[0]}" and "{roots[1]}": '
            "put them under one node"
        )
    order = list(roots)
    for name in order:
        order += below.get(name, [])
    if len(order) < len(above):
        inside = set(order)
        raise DataError(f"expected a tree; {_circle(above, (name for name in above if name not in inside))}")
    places = {name: place for place, name in enumerate(order)}
    up = [above[name] for name in order]
    return Tree(
        tuple(order),
        tuple(-1 if parent is None else places[parent] for parent in up),
        tuple((lengths or {}).get(name, 1.0) for name in order),
    )


def tree_of_paths(paths: Mapping[str, Sequence[str]]) -> Tree:
    """The tree of classes whose paths are given, from the top down.

    A path ends at its class, whatever it calls it: the node has the class's name. Where classes share one
    path, the paths are taken for their parents', unless they end in the class's own name. Paths that begin
    differently get a common root. Nodes of one name in different places are told apart by their whole paths.

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
    return _sorted(_unique(labels, above, classes), above)


def _circle(above: Mapping[str, str | None], names: Iterable[str]) -> str:
    """The circle that one of these nodes leads to, in words."""
    way = [next(iter(names))]
    seen: dict[str, int] = {}
    while way[-1] not in seen:
        seen[way[-1]] = len(seen)
        way.append(above[way[-1]] or "")
    round_trip = way[seen[way[-1]] :]
    shown = round_trip if len(round_trip) < 8 else [*round_trip[:6], "…", round_trip[-1]]
    return "these nodes stand in a circle: " + " under ".join(f'"{name}"' for name in shown)


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


def _sorted(names: Sequence[str], above: Sequence[int]) -> Tree:
    """The tree level by level, as `tree_of_parents` writes it."""
    return tree_of_parents(
        {name: None if place < 0 else names[place] for name, place in zip(names, above, strict=True)}
    )

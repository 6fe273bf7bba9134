"""A tree of classes, as one value.

Distances are tensors (float64), so that losses and measures take them as they are. Nothing here recurses: a
chain of 100,000 nodes is a tree like another.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from samekind.errors import DataError, nearest

#: The most nodes of a tree: more than all described species, and still read in seconds.
MOST_NODES = 3_000_000
#: Characters that no text file contains: zero, and lone surrogates.
NO_TEXT = re.compile(r"[\0\ud800-\udfff]")


@dataclass(frozen=True, repr=False)
class Tree:
    """Nodes with unique names, parents before children, so that the first node is the root.

    ``parents`` has the place of each node's parent, -1 for the root; ``lengths`` the length of the edge to
    it, 1 each without them, and always 0 for the root. A class is the node of its name: a leaf, or an inner
    node. Raises DataError, with the node named, if this is no tree.

    >>> tree = Tree(("animals", "mammals", "dog", "cat", "shark"), (-1, 0, 1, 1, 0))
    >>> tree.distances(["dog", "cat", "shark"]).tolist()
    [[0.0, 2.0, 3.0], [2.0, 0.0, 3.0], [3.0, 3.0, 0.0]]
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    lengths: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        lengths = tuple(map(float, self.lengths)) or (1.0,) * len(self.names)
        object.__setattr__(self, "lengths", (0.0, *lengths[1:]) if lengths else ())
        _check(self)

    def __repr__(self) -> str:
        return f"<Tree of {len(self.names)} nodes, {len(self.leaves())} leaves, height {self.heights[0]}>"

    @cached_property
    def has_lengths(self) -> bool:
        """Whether an edge has another length than 1."""
        return any(length != 1 for length in self.lengths[1:])

    @property
    def root(self) -> str:
        """The name of the root."""
        return self.names[0]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def fingerprint(self) -> str:
        """SHA-256, in hex, of the edges and their lengths; the order of the nodes does not count."""
        above = (self.names[parent] if parent >= 0 else None for parent in self.parents)
        edges = sorted(zip(self.names, above, self.lengths, strict=True), key=lambda edge: edge[0])
        return hashlib.sha256(json.dumps(edges).encode()).hexdigest()

    def place(self, name: str) -> int:
        """The place of a node in ``names``; raises DataError for a name that is not in the tree."""
        if name not in self._places:
            raise DataError(f'expected a node of the tree, got "{name}"; {nearest(name, self.names)}')
        return self._places[name]

    def parent(self, name: str) -> str | None:
        """The name of a node's parent; None for the root."""
        above = self.parents[self.place(name)]
        return None if above < 0 else self.names[above]

    def children(self, name: str) -> tuple[str, ...]:
        """The names of a node's children, in order; none for a leaf."""
        return tuple(self.names[child] for child in self.children_places[self.place(name)])

    def ancestors(self, name: str) -> tuple[str, ...]:
        """The names of the nodes above a node, from its parent to the root."""
        above = []
        place = self.parents[self.place(name)]
        while place >= 0:
            above.append(self.names[place])
            place = self.parents[place]
        return tuple(above)

    def path(self, name: str) -> tuple[str, ...]:
        """The names from the root down to a node, the node itself last."""
        return (*reversed(self.ancestors(name)), name)

    def leaves(self, name: str | None = None) -> tuple[str, ...]:
        """The names of the leaves under a node, or of all of them; a leaf has itself."""
        first, end = self._spans[0 if name is None else self.place(name)]
        return tuple(self.names[place] for place in self._walk[first:end] if not self.heights[place])

    def depth(self, name: str) -> int:
        """The number of edges from the root to a node."""
        return self.depths[self.place(name)]

    def height(self, name: str) -> int:
        """The number of edges on the longest path from a node down to a leaf; 0 for a leaf."""
        return self.heights[self.place(name)]

    def distances(self, classes: Sequence[str]) -> Tensor:
        """The length of the path between any two classes: (classes, classes)."""
        down = [0.0] * len(self.names)
        for place in range(1, len(down)):
            down[place] = down[self.parents[place]] + self.lengths[place]
        from_root = torch.tensor(down, dtype=torch.float64)
        single = from_root[torch.tensor(self._places_of(classes), dtype=torch.long)]
        common = from_root[self.common_ancestors(classes)]
        return (single[:, None] + single - 2 * common).clamp(min=0)

    def lcs_distances(self, classes: Sequence[str]) -> Tensor:
        """The height of the lowest node above two classes, over that of the root: (classes, classes), 0 to 1.

        Heights are longest paths, in edges. From a class to itself it is 0, at an inner node too.
        """
        heights = torch.tensor(self.heights, dtype=torch.float64)
        return (heights[self.common_ancestors(classes)] / max(self.heights[0], 1)).fill_diagonal_(0)

    def common_ancestors(self, classes: Sequence[str]) -> Tensor:
        """The place of the lowest node with two classes at or below it: (classes, classes), whole numbers."""
        places = self._places_of(classes)
        walked = sorted(range(len(places)), key=lambda row: self._spans[places[row]])
        order = torch.tensor(walked, dtype=torch.long)
        chosen = set(places)
        # How many classes come before each node on the walk: those of a node lie next to each other.
        before = [0]
        for place in self._walk:
            before.append(before[-1] + (place in chosen))
        common = torch.diag(torch.tensor(places, dtype=torch.long)[order])
        for place, above in enumerate(self.parents[1:], start=1):
            first, end = (before[edge] for edge in self._spans[place])
            start = before[self._spans[above][0]]
            if first < end and start < first:
                common[first:end, start:first] = above
                common[start:first, first:end] = above
        answer = torch.empty_like(common)
        answer[order[:, None], order] = common
        return answer

    def membership(self, classes: Sequence[str]) -> Tensor:
        """Whether a class stands at or below a node: (nodes, classes), truth values."""
        spans = torch.tensor(self._spans, dtype=torch.long)
        at = spans[torch.tensor(self._places_of(classes), dtype=torch.long), 0]
        return (spans[:, :1] <= at) & (at < spans[:, 1:])

    def subtree(self, classes: Iterable[str]) -> "Tree":
        """The tree of some classes: they and all nodes above them. Distances stay as they are."""
        inside: set[int] = set()
        for name in classes:
            place = self.place(name)
            while place >= 0 and place not in inside:
                inside.add(place)
                place = self.parents[place]
        if not inside:
            raise DataError("expected a class or more for a subtree; got none")
        places = sorted(inside)
        moved = {place: new for new, place in enumerate(places)} | {-1: -1}
        return Tree(
            tuple(self.names[place] for place in places),
            tuple(moved[self.parents[place]] for place in places),
            tuple(self.lengths[place] for place in places),
        )

    def to_json(self) -> dict[str, Any]:
        """The tree as plain values, without lengths that are all 1."""
        plain: dict[str, Any] = {"names": list(self.names), "parents": list(self.parents)}
        if self.has_lengths:
            plain["lengths"] = list(self.lengths)
        return plain

    @classmethod
    def from_json(cls, plain: object) -> "Tree":
        """The tree from the output of `to_json`; raises DataError for anything else."""
        wanted = "expected a tree as a table with names, parents and perhaps lengths"
        if not isinstance(plain, Mapping) or not {"names", "parents"} <= plain.keys() <= set(_TYPES):
            given = ", ".join(map(str, plain)) if isinstance(plain, Mapping) else type(plain).__name__
            raise DataError(f"{wanted}; got {given}")
        lists: dict[str, Any] = {"lengths": [], **plain}
        for key, types in _TYPES.items():
            if not isinstance(lists[key], list) or not all(type(value) in types for value in lists[key]):
                raise DataError(f"{wanted}; its {key} are not a list of {types[-1].__name__}")
        try:
            return cls(tuple(lists["names"]), tuple(lists["parents"]), tuple(lists["lengths"]))
        except OverflowError:
            raise DataError(f"{wanted}; one of its numbers is too large") from None

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """The depth of every node."""
        depths = [0] * len(self.names)
        for place in range(1, len(depths)):
            depths[place] = depths[self.parents[place]] + 1
        return tuple(depths)

    @cached_property
    def heights(self) -> tuple[int, ...]:
        """The height of every node."""
        heights = [0] * len(self.names)
        for place in range(len(heights) - 1, 0, -1):
            above = self.parents[place]
            heights[above] = max(heights[above], heights[place] + 1)
        return tuple(heights)

    @cached_property
    def children_places(self) -> tuple[tuple[int, ...], ...]:
        """The places of every node's children."""
        below: list[list[int]] = [[] for _ in self.names]
        for place, above in enumerate(self.parents[1:], start=1):
            below[above].append(place)
        return tuple(map(tuple, below))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def _spans(self) -> tuple[tuple[int, int], ...]:
        """Where a node and all below it stand on a walk from the root, down before sideways: first, end."""
        sizes = [1] * len(self.names)
        for place in range(len(sizes) - 1, 0, -1):
            sizes[self.parents[place]] += sizes[place]
        first, free = [0] * len(sizes), [1] * len(sizes)
        for place in range(1, len(sizes)):
            above = self.parents[place]
            first[place] = free[above]
            free[above] += sizes[place]
            free[place] = first[place] + 1
        return tuple((start, start + size) for start, size in zip(first, sizes, strict=True))

    @cached_property
    def _walk(self) -> tuple[int, ...]:
        """The places of the nodes in the order of that walk."""
        return tuple(sorted(range(len(self.names)), key=lambda place: self._spans[place][0]))

    def _places_of(self, classes: Sequence[str]) -> list[int]:
        places = [self.place(name) for name in classes]
        twice = [one for one, other in pairwise(sorted(places)) if one == other]
        if twice:
            raise DataError(f'expected each class once; "{self.names[twice[0]]}" is there twice')
        return places


_TYPES: dict[str, tuple[type, ...]] = {"names": (str,), "parents": (int,), "lengths": (int, float)}


def _check(tree: Tree) -> None:
    """Raise DataError unless names, parents and lengths make up one tree."""
    names, parents, lengths = tree.names, tree.parents, tree.lengths
    if not names:
        raise DataError("expected a tree of a node or more; it is empty")
    if len(names) > MOST_NODES:
        raise DataError(f"expected a tree of at most {MOST_NODES:,} nodes; got {len(names):,}")
    if not len(names) == len(parents) == len(lengths):
        counts = f"{len(names)} names, {len(parents)} parents and {len(lengths)} lengths"
        raise DataError(f"expected a name, a parent and a length for each node; got {counts}")
    known: set[str] = set()
    for place, (name, above, length) in enumerate(zip(names, parents, lengths, strict=True)):
        if not name:
            raise DataError(f"expected a name for every node; node {place} has none")
        if NO_TEXT.search(name):
            raise DataError(f"expected names as text; that of node {place} is {name!r:.60}")
        if name in known:
            raise DataError(f'expected a name once; two nodes are called "{name}"')
        if place and above == -1:
            raise DataError(f'expected one root; "{names[0]}" and "{name}" both have no parent')
        if not (0 <= above < place or above == -1 - place):
            raise DataError(f'expected parents before their children; that of "{name}" is node {above}')
        if not (math.isfinite(length) and length >= 0):
            raise DataError(f'expected lengths of 0 or more; the edge above "{name}" has {length}')
        known.add(name)

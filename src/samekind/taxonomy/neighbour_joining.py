"""Neighbour joining: a tree from distances, whose leaves need not be equally far from the root.

Saitou and Nei, "The neighbor-joining method", Molecular Biology and Evolution, 1987. Of the nodes that are
left, the two with the smallest d_ij - u_i - u_j are joined, where u_i is the sum of node i's distances over
the number of the others but one.

The search is exact, but looks at few pairs. Now and then it looks at all pairs and remembers the best: those
up to a *limit*. From join to join each u changes little. While the best of the remembered pairs, and of those
with a new node, is below what any other pair can have come to since, no other pair needs to be looked at.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from samekind.taxonomy.building import tree_of_places
from samekind.taxonomy.distances import checked_distances
from samekind.taxonomy.tree import Tree

Array = np.ndarray[Any, Any]

#: Joins at most from one look at all pairs to the next: a new node is compared with all others until then.
MOST_JOINS = 96
#: Pairs that one look remembers, about, for each node.
REMEMBERED = 4
#: The values of the sample by which the limit is chosen.
SAMPLE = 50_000
#: The limit that has every pair below it, and nothing else.
EVERY_PAIR = np.finfo(np.float64).max


class Limb(NamedTuple):
    """A node and the length of the edge from it to the node it was joined to."""

    node: int
    length: float


def neighbour_joining(distances: Tensor, names: Sequence[str]) -> Tree:
    """The tree that neighbour joining gives for classes at these distances, (classes, classes).

    Distances of a tree give that tree. Edges have lengths; one below zero is set to 0. The tree has no true
    root: its first node is the one made last, where three branches meet. Raises DataError for anything but
    distances of two classes or more.
    """
    matrix = checked_distances(distances, names)
    limbs = [Limb(0, matrix[0, 1] / 2), Limb(1, matrix[0, 1] / 2)] if len(names) == 2 else _limbs(matrix)
    nodes = len(limbs) + 1
    parents, lengths = [-1] * nodes, [0.0] * nodes
    for number, (node, length) in enumerate(limbs):
        parents[node] = min(len(names) + number // 2, nodes - 1)
        lengths[node] = max(float(length), 0.0)
    return tree_of_places([*names, *[None] * (nodes - len(names))], parents, lengths)


def _limbs(matrix: Array) -> list[Limb]:
    """The edges, two for each join and three for the last; the joined node has the next free number."""
    left = _Left(matrix)
    limbs: list[Limb] = []
    while left.count > 3:
        limbs += left.join(*left.closest())
    one, two, three = left.alive.nonzero()[0]
    for node, second, third in ((one, two, three), (two, one, three), (three, one, two)):
        pairs = left.matrix
        length = (pairs[node, second] + pairs[node, third] - pairs[second, third]) / 2
        limbs.append(Limb(int(left.nodes[node]), length))
    return limbs


class _Left:
    """The nodes that are left to be joined, their distances, and the best pairs at the last look."""

    count: int  # of the nodes that are left
    looked: int  # rows that the last look knew
    end: int  # of the rows in use: those, and the nodes joined since
    matrix: Array  # (rows, rows) distances
    sums: Array  # (rows,) of the distances to the nodes that are left
    alive: Array  # (rows,) whether a node is left
    nodes: Array  # (rows,) numbers of the nodes
    start: Array  # (looked,) u at the last look
    limit: float
    first: Array  # (remembered pairs,) rows
    second: Array
    values: Array  # (remembered pairs,) distances

    def __init__(self, matrix: Array) -> None:
        self.next_node = len(matrix)
        self._look(matrix, np.arange(len(matrix)))

    def closest(self) -> tuple[int, int]:
        """The rows of the two nodes to join next."""
        while True:
            height = self._heights()
            pairs = self.values - height[self.first] - height[self.second]
            pair = int(pairs.argmin())
            best, at = pairs[pair], (int(self.first[pair]), int(self.second[pair]))
            if self.end > self.looked:
                with_new = self.matrix[self.looked : self.end, : self.end] - height[: self.end]
                with_new -= height[self.looked : self.end, None]
                place = int(with_new.argmin())
                if with_new.flat[place] < best:
                    best = with_new.flat[place]
                    at = (self.looked + place // self.end, place % self.end)
            if self.end == self.looked or (self.end < len(self.matrix) and best < self._bound(height)):
                return at
            rows = self.alive.nonzero()[0]
            matrix = self.matrix[np.ix_(rows, rows)]
            np.fill_diagonal(matrix, 0.0)
            self._look(matrix, self.nodes[rows])

    def join(self, first: int, second: int) -> tuple[Limb, Limb]:
        """Put one node in place of two, and return their limbs."""
        apart, end = self.matrix[first, second], self.end
        height = self._heights()
        length = (apart + height[first] - height[second]) / 2
        limbs = Limb(int(self.nodes[first]), length), Limb(int(self.nodes[second]), apart - length)
        self.alive[[first, second]] = False
        both = self.matrix[first, :end] + self.matrix[second, :end]
        row = np.where(self.alive[:end], (both - apart) / 2, 0.0)
        self.sums[:end] += np.where(self.alive[:end], row - both, 0.0)
        self.matrix[end, :end] = self.matrix[:end, end] = row
        self.matrix[end, end] = np.inf
        self.sums[end], self.alive[end], self.nodes[end] = row.sum(), True, self.next_node
        self.end, self.next_node, self.count = end + 1, self.next_node + 1, self.count - 1
        return limbs

    def _heights(self) -> Array:
        """The u of each node. It is minus infinity for removed nodes, so that no smallest pair has one."""
        return np.where(self.alive, self.sums / (self.count - 2), -np.inf)

    def _bound(self, height: Array) -> Any:
        """A lower bound for all pairs of the last full search that were not stored."""
        rises = (height[: self.looked] - self.start)[self.alive[: self.looked]]
        if len(rises) < 2:
            return np.inf
        return self.limit - np.partition(rises, -2)[-2:].sum() - 1e-12 * abs(self.limit)

    def _look(self, matrix: Array, nodes: Array) -> None:
        """Look at all pairs, and remember the best."""
        count = len(matrix)
        size = count + MOST_JOINS
        self.count = self.looked = self.end = count
        self.matrix, self.sums = np.zeros((size, size)), np.zeros(size)
        self.alive, self.nodes = np.arange(size) < count, np.zeros(size, dtype=np.int64)
        self.matrix[:count, :count], self.sums[:count], self.nodes[:count] = matrix, matrix.sum(1), nodes
        self.start = self.sums[:count] / (count - 2)
        pairs = matrix - self.start
        pairs -= self.start[:, None]
        pairs[np.tri(count, dtype=bool)] = np.inf  # every pair once
        sample = pairs.ravel()[:: max(1, pairs.size // SAMPLE)]
        sample = sample[np.isfinite(sample)]
        share = int(len(sample) * min(1.0, 2 * REMEMBERED / count))
        self.limit = (
            EVERY_PAIR if share >= len(sample) else max(np.partition(sample, share)[share], pairs.min())
        )
        self.first, self.second = np.divmod(np.flatnonzero(pairs <= self.limit), count)
        self.values = matrix[self.first, self.second]

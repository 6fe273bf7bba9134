"""Neighbour joining: the tree of its own distances, and every join that of a plain loop."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from samekind.errors import DataError
from samekind.taxonomy import neighbour_joining as module
from samekind.taxonomy.comparing import robinson_foulds
from samekind.taxonomy.neighbour_joining import neighbour_joining
from samekind.taxonomy.tree import Tree


def binary_tree(leaves, random):
    """A tree without a root of degree two: three branches at the first node, two below every other."""
    names, parents = ["top", "a", "b", "c"], [-1, 0, 0, 0]
    open_leaves = [1, 2, 3]
    while len(open_leaves) < leaves:
        split = open_leaves.pop(random.randrange(len(open_leaves)))
        for _ in range(2):
            open_leaves.append(len(names))
            names.append(f"n{len(names)}")
            parents.append(split)
    lengths = [random.uniform(0.1, 2) for _ in names]
    return Tree(tuple(names), tuple(parents), tuple(lengths))


@given(st.integers(3, 14), st.randoms(use_true_random=False))
def test_distances_of_a_tree_give_that_tree(leaves, random):
    tree = binary_tree(leaves, random)
    names = tree.leaves()
    inferred = neighbour_joining(tree.distances(names), names)
    torch.testing.assert_close(inferred.distances(names), tree.distances(names))
    assert robinson_foulds(tree, inferred, names).distance == 0
    assert set(inferred.leaves()) == set(names)


def joined_plainly(matrix):
    """The leaves under each node that is joined, by the definition."""
    groups = {place: frozenset([place]) for place in range(len(matrix))}
    distance = {(i, j): float(matrix[i, j]) for i in groups for j in groups if i != j}
    joins = set()
    while len(groups) > 3:
        total = {i: sum(distance[i, j] for j in groups if j != i) for i in groups}
        i, j = min(
            ((i, j) for i in groups for j in groups if i < j),
            key=lambda pair: (len(groups) - 2) * distance[pair] - total[pair[0]] - total[pair[1]],
        )
        new = max(groups) + 1
        for k in groups:
            if k not in (i, j):
                distance[new, k] = distance[k, new] = (distance[i, k] + distance[j, k] - distance[i, j]) / 2
        groups[new] = groups.pop(i) | groups.pop(j)
        joins.add(groups[new])
    return joins


@pytest.mark.parametrize(("joins", "remembered"), [(96, 4), (3, 1), (1, 1), (200, 0.3)])
def test_every_join_is_that_of_a_plain_loop(monkeypatch, joins, remembered):
    """However often all pairs are looked at, and however few are remembered."""
    monkeypatch.setattr(module, "MOST_JOINS", joins)
    monkeypatch.setattr(module, "REMEMBERED", remembered)
    points = torch.randn(40, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    distances = torch.cdist(points, points)
    tree = neighbour_joining(distances, [str(place) for place in range(40)])
    groups = [frozenset(map(int, tree.leaves(name))) for name in tree.names[1:] if tree.height(name)]
    assert without_first(groups) == without_first(joined_plainly(distances))


def without_first(groups):
    """Of each split the side without the first leaf: of four nodes, joining two is joining the other two."""
    return {frozenset(range(40)) - group if 0 in group else group for group in groups}


def test_two_classes_share_their_distance():
    tree = neighbour_joining(torch.tensor([[0.0, 3.0], [3.0, 0.0]]), ["a", "b"])
    assert tree == Tree(("node 1", "a", "b"), (-1, 0, 0), (0, 1.5, 1.5))


def test_equal_distances_give_a_star():
    tree = neighbour_joining(1 - torch.eye(6), list("abcdef"))
    torch.testing.assert_close(tree.distances(list("abcdef")), 1 - torch.eye(6, dtype=torch.float64))


def test_lengths_are_never_below_zero():
    points = torch.randn(30, 2, generator=torch.Generator().manual_seed(1))
    tree = neighbour_joining(torch.cdist(points, points).square(), [str(place) for place in range(30)])
    assert min(tree.lengths) == 0


def test_anything_but_distances_is_refused():
    with pytest.raises(DataError, match="of two classes or more"):
        neighbour_joining(torch.zeros(1, 1), ["a"])

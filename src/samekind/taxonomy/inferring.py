"""A tree of classes from the distances between them, by one of several methods."""

from collections.abc import Sequence
from typing import Literal, get_args

from torch import Tensor

from samekind.errors import SettingError, nearest
from samekind.taxonomy.building import tree_of_places
from samekind.taxonomy.distances import checked_distances
from samekind.taxonomy.neighbour_joining import neighbour_joining
from samekind.taxonomy.tree import Tree

Method = Literal["neighbour-joining", "average", "single", "complete", "weighted", "ward"]


def infer_tree(distances: Tensor, names: Sequence[str], *, method: Method = "neighbour-joining") -> Tree:
    """The tree of classes at these distances, (classes, classes), with lengths; the classes are its leaves.

    "average" is UPGMA, "weighted" WPGMA. These and the other linkages put all leaves equally far from the
    root; "neighbour-joining" does not, and its root says nothing. Raises SettingError for an unknown method,
    and DataError for anything but distances.

    >>> import torch
    >>> apart = torch.tensor([[0.0, 2.0, 6.0], [2.0, 0.0, 6.0], [6.0, 6.0, 0.0]])
    >>> infer_tree(apart, ["dog", "cat", "shark"], method="average").children("node 1")
    ('shark', 'node 2')
    """
    if method not in get_args(Method):
        raise SettingError(f'unknown method "{method}"; {nearest(method, get_args(Method))}')
    if method == "neighbour-joining":
        return neighbour_joining(distances, names)
    return _linked(distances, names, method)


def _linked(distances: Tensor, names: Sequence[str], method: str) -> Tree:
    """The tree of a linkage. A node is half as high as its two groups are apart."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    joins = linkage(squareform(checked_distances(distances, names), checks=False), method=method).tolist()
    count = len(names)
    heights = [0.0] * count + [apart / 2 for _, _, apart, _ in joins]
    parents, lengths = [-1] * len(heights), [0.0] * len(heights)
    for above, (first, second, *_) in enumerate(joins, start=count):
        for node in (int(first), int(second)):
            parents[node], lengths[node] = above, max(heights[above] - heights[node], 0.0)
    return tree_of_places([*names, *[None] * len(joins)], parents, lengths)

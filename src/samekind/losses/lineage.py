"""The tree of the classes as the losses read it: which candidates stand under which node.

A class that stands at an inner node is one more leaf under that node: its items are of that kind, and of
none of the kinds below.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import torch
from torch import Tensor


class Lineage(NamedTuple):
    """The nodes above the candidates, parents before children; the first node is the root.

    Heights and depths count edges. The height of a node is its longest way down to a leaf.
    """

    members: Tensor  # (nodes, candidates), whether a candidate stands under a node
    chains: Tensor  # (candidates, levels), the nodes from each candidate's own up to the root, then the root
    parents: Tensor  # (nodes,); the root is its own
    depths: Tensor  # (nodes,)
    heights: Tensor  # (nodes,)

    @classmethod
    def of(cls, parents: Sequence[int], places: Sequence[int]) -> Self:
        """The lineage of candidates that stand at the nodes ``places``, in a tree with these ``parents`` (the
        index of each node's parent, lower than its own; -1 for the root). Nodes without a candidate below
        are left out.
        """
        inner = {parent for parent in parents if parent >= 0}
        parents, leaves = list(parents), []
        for place in places:
            if place in inner:
                parents.append(place)
            leaves.append(len(parents) - 1 if place in inner else place)
        chains = [_upwards(leaf, parents) for leaf in leaves]
        order = {node: place for place, node in enumerate(sorted({0}.union(*chains)))}
        # An added leaf comes after its parent, as its number is the highest so far.
        above = [order[max(0, parents[node])] for node in order]
        members = torch.zeros(len(order), len(leaves), dtype=torch.bool)
        heights, depths = [0] * len(order), [0] * len(order)
        for place in range(1, len(order)):
            depths[place] = depths[above[place]] + 1
        for place in range(len(order) - 1, 0, -1):
            heights[above[place]] = max(heights[above[place]], heights[place] + 1)
        levels = max(map(len, chains), default=1)
        padded = torch.zeros(len(leaves), levels, dtype=torch.long)
        for candidate, chain in enumerate(chains):
            nodes = [order[node] for node in chain]
            members[nodes, candidate] = True
            padded[candidate, : len(nodes)] = torch.tensor(nodes)
        return cls(members, padded, torch.tensor(above), torch.tensor(depths), torch.tensor(heights))

    def to(self, device: torch.device) -> Self:
        """The same on another device."""
        return type(self)(*(tensor.to(device) for tensor in self))


def check_lineage(lineage: Lineage | None, scores: Tensor) -> Lineage:
    """The lineage of the candidates. Raises ValueError if missing or of another number of candidates."""
    if lineage is None:
        raise ValueError(
            "expected lineage, the nodes above the candidates, got None; Lineage.of(parents, places) makes it"
        )
    if lineage.members.shape[1] != scores.shape[1]:
        raise ValueError(
            f"expected a lineage of {scores.shape[1]} candidates, as there are scores, "
            f"got {lineage.members.shape[1]}"
        )
    return lineage


def _upwards(node: int, parents: Sequence[int]) -> list[int]:
    """The nodes from one up to the root."""
    chain = [node]
    while parents[chain[-1]] >= 0:
        chain.append(parents[chain[-1]])
    return chain

"""From probabilities of classes down a tree: to the deepest node that is still probable enough.

The way goes from the root to the more probable child, again and again. What stands on it only grows less
probable, so a higher level ends it earlier, at a node above.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from samekind.taxonomy.tree import Tree


class Descent:
    """The ways of n items down the tree of some classes, given their probabilities (n, classes).

    The probability of a node is the sum over the classes at and below it. ``nodes`` (n, steps) are the nodes
    on each way as places in ``tree.names``, the root first, and ``probabilities`` (n, steps) float64 theirs;
    where a way has ended, its last node stands again, with probability 0. ``tree`` is the tree of these
    classes alone.
    """

    def __init__(self, tree: Tree, classes: Sequence[str], probabilities: Tensor) -> None:
        self.tree = tree.subtree(classes)
        self.classes = list(classes)
        inside = self.tree.membership(classes).double()
        of_nodes = probabilities.detach().cpu().double() @ inside.T  # (n, nodes)
        of_nodes[:, 0] = 1.0  # of the root, without rounding
        below = _padded(self.tree)
        at = torch.zeros(len(of_nodes), dtype=torch.int64)
        nodes, values = [at], [of_nodes[:, 0]]
        for _ in range(self.tree.heights[0]):
            children = below[at]  # (n, most children), -1 where there are no more
            of_children = of_nodes.gather(1, children.clamp(min=0)).masked_fill(children < 0, 0.0)
            best, choice = of_children.max(1)
            at = torch.where(best > 0, children.gather(1, choice[:, None])[:, 0], at)
            nodes.append(at)
            values.append(best)
        self.nodes, self.probabilities = torch.stack(nodes, 1), torch.stack(values, 1)

    def ends(self, level: float) -> tuple[Tensor, Tensor]:
        """The deepest node of each way with a probability of ``level`` or more, and that probability: (n,)
        and (n,); the root if there is no other.
        """
        passed = (self.probabilities >= level).cumprod(1).sum(1).clamp(min=1)
        last = (passed - 1)[:, None]
        return self.nodes.gather(1, last)[:, 0], self.probabilities.gather(1, last)[:, 0]

    def inner(self, level: float) -> Tensor:
        """The deepest node of each way that has children and a probability of ``level`` or more: (n,)."""
        has_children = torch.tensor(self.tree.heights)[self.nodes] > 0
        passed = ((self.probabilities >= level) & has_children).cumprod(1).sum(1).clamp(min=1)
        return self.nodes.gather(1, (passed - 1)[:, None])[:, 0]

    def are_above(self, truth: Tensor) -> Tensor:
        """Whether each node of a way is the class ``truth`` (n,), an index into the classes, or above it."""
        return self.tree.membership(self.classes)[self.nodes, truth[:, None]]

    def names(self, nodes: Tensor) -> list[str]:
        """The names of nodes."""
        return [self.tree.names[place] for place in nodes.tolist()]


def _padded(tree: Tree) -> Tensor:
    """The places of the children of each node: (nodes, most children), -1 where there are no more."""
    most = max(1, *map(len, tree.children_places))
    below = torch.full((len(tree.names), most), -1, dtype=torch.int64)
    for place, children in enumerate(tree.children_places):
        below[place, : len(children)] = torch.tensor(children, dtype=torch.int64)
    return below

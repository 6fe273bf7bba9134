"""How far two trees of the same classes agree."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from samekind.taxonomy.tree import Tree


class Splits(NamedTuple):
    """The splits that only the first tree has, only the second, and both."""

    first_only: int
    second_only: int
    both: int

    @property
    def distance(self) -> int:
        """Robinson and Foulds' distance: the splits that one tree has and the other has not."""
        return self.first_only + self.second_only

    @property
    def normalised(self) -> float:
        """That distance over the splits of the one tree plus those of the other: 0 for the same shape, 1 for
        no split in common. It is 0 where neither has a split.
        """
        return self.distance / max(1, self.distance + 2 * self.both)


def robinson_foulds(
    first: Tree, second: Tree, classes: Sequence[str], *, called: Sequence[str] | None = None
) -> Splits:
    """The splits of some classes in two trees, wherever their roots are.

    An edge splits the classes into those on its one side and those on its other. A split counts if both have
    two classes or more. A class at an inner node stands there like a leaf on an edge of its own. Lengths
    count for nothing. ``called`` are the names of the classes in the second tree, if they differ. Raises
    DataError for a class that one tree does not have.

    Robinson and Foulds, "Comparison of phylogenetic trees", Mathematical Biosciences, 1981.
    """
    one, other = _splits(first, classes), _splits(second, called or classes)
    return Splits(len(one - other), len(other - one), len(one & other))


def _splits(tree: Tree, classes: Sequence[str]) -> set[bytes]:
    """The side of each split that does not have the first class, as bits."""
    sides = tree.membership(classes).numpy()
    sides = sides ^ sides[:, :1]
    sizes = sides.sum(1)
    wanted = sides[(sizes > 1) & (sizes < len(classes) - 1)]
    return {bits.tobytes() for bits in np.packbits(wanted, axis=1)}

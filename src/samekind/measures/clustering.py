"""Clustering: how much the groups found say about the true classes.

``assigned`` and ``truth`` are (n,) whole numbers, the group and the class of each item; their names do not
matter. Every measure is 1 when the groups are the classes. Time and memory grow with the items, not with
groups times classes.

Strehl and Ghosh, "Cluster Ensembles: A Knowledge Reuse Framework for Combining Multiple Partitions",
JMLR 2002, normalised here by the arithmetic mean of the two entropies; Vinh, Epps and Bailey, "Information
Theoretic Measures for Clusterings Comparison", JMLR 2010; Hubert and Arabie, "Comparing Partitions", 1985.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from samekind.measures.checks import check_labels


class _Table(NamedTuple):
    """The number of items of each group, each class, and each cell (a group and a class) that has items.

    The full table of 10,000 groups and classes would take a gigabyte.
    """

    group_sizes: Tensor  # (groups,)
    class_sizes: Tensor  # (classes,)
    cell_sizes: Tensor  # (cells,)
    group_of_cell: Tensor  # (cells,)
    class_of_cell: Tensor  # (cells,)
    items: int

    @property
    def undivided(self) -> tuple[bool, bool]:
        """Whether all items are in one group, and whether they are of one class."""
        return len(self.group_sizes) == 1, len(self.class_sizes) == 1


def normalised_mutual_information(assigned: Tensor, truth: Tensor) -> float:
    """Twice the mutual information of groups and classes, over the sum of their entropies.

    0 when the groups say nothing about the classes. With one group and one class it is 1; with one group and
    several classes, or the reverse, it is 0. It is not corrected for chance: many small random groups score
    above 0.

    >>> normalised_mutual_information(torch.tensor([5, 5, 3, 3]), torch.tensor([0, 0, 1, 1]))
    1.0
    >>> normalised_mutual_information(torch.tensor([0, 1, 0, 1]), torch.tensor([0, 0, 1, 1]))
    0.0
    """
    table = _table(assigned, truth)
    if all(table.undivided):
        return 1.0
    # Rounding may lead slightly outside the range.
    return float((_information(table) / _mean_entropy(table)).clamp(0, 1))


def adjusted_mutual_information(assigned: Tensor, truth: Tensor) -> float:
    """The mutual information beyond chance, over the most that is possible: about 0 for random groups, below
    0 for worse.

    Chance is a random arrangement with the same group and class sizes. The extremes are those of NMI.

    >>> adjusted_mutual_information(torch.tensor([5, 5, 3, 3]), torch.tensor([0, 0, 1, 1]))
    1.0
    >>> round(adjusted_mutual_information(torch.tensor([0, 1, 0, 1]), torch.tensor([0, 0, 1, 1])), 3)
    -0.5
    """
    table = _table(assigned, truth)
    if any(table.undivided):
        return 1.0 if all(table.undivided) else 0.0
    if len(table.cell_sizes) == len(table.group_sizes) == len(table.class_sizes):
        return 1.0  # the same groups; for single items the formula below would be 0 / 0
    chance = _chance_information(table)
    gained, most = float(_information(table)) - chance, float(_mean_entropy(table)) - chance
    # For single items chance gives the most that is possible, so nothing is gained beyond it.
    return gained / most if most > 1e-12 else 0.0


def adjusted_rand_index(assigned: Tensor, truth: Tensor) -> float:
    """The share of pairs that groups and classes agree on, beyond chance: about 0 for random groups.

    If there is nothing to disagree on (all items together in both, or all separate in both) it is 1.

    >>> adjusted_rand_index(torch.tensor([5, 5, 3, 3]), torch.tensor([0, 0, 1, 1]))
    1.0
    >>> adjusted_rand_index(torch.tensor([0, 1, 0, 1]), torch.tensor([0, 0, 1, 1]))
    -0.5
    """
    table = _table(assigned, truth)
    together, grouped, classed = _pairs(table)
    all_pairs = table.items * (table.items - 1) // 2
    # In whole numbers, multiplied by twice the number of pairs: exact for any number of items.
    gained = 2 * (together * all_pairs - grouped * classed)
    most = (grouped + classed) * all_pairs - 2 * grouped * classed
    return gained / most if most else 1.0


def pairwise_f1(assigned: Tensor, truth: Tensor) -> float:
    """Precision and recall of "these two are in one group" as "of one class", 2PR / (P + R), over all pairs.

    The F1 of metric-learning tables, not corrected for chance. If neither groups nor classes put any two
    items together, they agree and the value is 1.

    >>> pairwise_f1(torch.tensor([0, 0, 0, 0]), torch.tensor([0, 0, 1, 1]))
    0.5
    """
    together, grouped, classed = _pairs(_table(assigned, truth))
    return 2 * together / (grouped + classed) if grouped + classed else 1.0


def purity(assigned: Tensor, truth: Tensor) -> float:
    """The share of items that are of the most frequent class of their group.

    Groups of one item are pure, so compare it only between the same numbers of groups.

    >>> purity(torch.tensor([0, 0, 0, 1]), torch.tensor([0, 0, 1, 1]))
    0.75
    """
    table = _table(assigned, truth)
    largest = torch.zeros_like(table.group_sizes)
    largest.scatter_reduce_(0, table.group_of_cell, table.cell_sizes, "amax")
    return int(largest.sum()) / table.items


def _table(assigned: Tensor, truth: Tensor) -> _Table:
    check_labels(assigned, truth, name="assigned")
    _, group, group_sizes = torch.unique(assigned, return_inverse=True, return_counts=True)
    classes, class_, class_sizes = torch.unique(truth, return_inverse=True, return_counts=True)
    cells, cell_sizes = torch.unique(group * len(classes) + class_, return_counts=True)
    return _Table(
        group_sizes, class_sizes, cell_sizes, cells // len(classes), cells % len(classes), len(truth)
    )


def _pairs(table: _Table) -> tuple[int, int, int]:
    """Pairs of items in one group and class, in one group, in one class."""
    sizes = (table.cell_sizes, table.group_sizes, table.class_sizes)
    together, grouped, classed = (int((counts * (counts - 1) // 2).sum()) for counts in sizes)
    return together, grouped, classed


def _information(table: _Table) -> Tensor:
    expected = table.group_sizes[table.group_of_cell].double() * table.class_sizes[table.class_of_cell]
    surprise = (table.items * table.cell_sizes / expected).log()
    return (table.cell_sizes * surprise).sum() / table.items


def _mean_entropy(table: _Table) -> Tensor:
    return (_entropy(table.group_sizes) + _entropy(table.class_sizes)) / 2


def _entropy(sizes: Tensor) -> Tensor:
    shares = sizes.double() / sizes.sum()
    return -torch.xlogy(shares, shares).sum()


def _chance_information(table: _Table) -> float:
    """The mean information of a random arrangement of the same sizes.

    It depends on the sizes of a group and a class alone, so it is computed once for each pair of sizes:
    thousands of classes have a few dozen sizes.
    """
    items = table.items
    groups, of_group = torch.unique(table.group_sizes, return_counts=True)
    classes, of_class = torch.unique(table.class_sizes, return_counts=True)
    logs = torch.arange(items + 1, device=groups.device, dtype=torch.double).add(1).lgamma()  # ln(n!)
    total = 0.0
    for group, times in zip(groups.tolist(), of_group.tolist(), strict=True):
        # Every number of items that a group and a class of some size can share, in one row.
        lowest, highest = (group + classes - items).clamp(min=1), classes.clamp(max=group)
        choices = highest - lowest + 1
        size, count = classes.repeat_interleave(choices), of_class.repeat_interleave(choices)
        ends = choices.cumsum(0)
        overlap = torch.arange(int(ends[-1]), device=size.device) - (
            ends - choices - lowest
        ).repeat_interleave(choices)
        chance = logs[group] + logs[size] + logs[items - group] + logs[items - size] - logs[items]
        chance -= (
            logs[overlap]
            + logs[group - overlap]
            + logs[size - overlap]
            + logs[items - group - size + overlap]
        )
        surprise = (items * overlap.double() / (group * size.double())).log()
        total += times * float((count * overlap.double() * surprise * chance.exp()).sum()) / items
    return total

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
    """How many items each group, each class, and each group with a class has: only cells that hold items.

    The whole table of 10,000 groups and classes takes a gigabyte.
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

    0 when the groups say nothing about the classes. One group and one class agree, 1; only one of the two
    undivided says nothing, 0. Not corrected for chance: many small groups score above 0 even when drawn at
    random.

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
    """The mutual information beyond what chance gives, over the most there could be: about 0 for groups drawn
    at random, below it for worse.

    Chance is a random arrangement of the same group and class sizes. The ends are as for NMI.

    >>> adjusted_mutual_information(torch.tensor([5, 5, 3, 3]), torch.tensor([0, 0, 1, 1]))
    1.0
    >>> round(adjusted_mutual_information(torch.tensor([0, 1, 0, 1]), torch.tensor([0, 0, 1, 1])), 3)
    -0.5
    """
    table = _table(assigned, truth)
    if any(table.undivided):
        return 1.0 if all(table.undivided) else 0.0
    if len(table.cell_sizes) == len(table.group_sizes) == len(table.class_sizes):
        return 1.0  # the same groups; of single items chance gives all there is, and 0 / 0 would be left
    chance = _chance_information(table)
    gained, most = float(_information(table)) - chance, float(_mean_entropy(table)) - chance
    # Where chance gives all there could be, as for single items, nothing is gained beyond it.
    return gained / most if most > 1e-12 else 0.0


def adjusted_rand_index(assigned: Tensor, truth: Tensor) -> float:
    """The share of pairs that groups and classes agree on, beyond chance: about 0 for random groups.

    Where there is nothing to disagree on (all items together in both, or all apart in both) it is 1.

    >>> adjusted_rand_index(torch.tensor([5, 5, 3, 3]), torch.tensor([0, 0, 1, 1]))
    1.0
    >>> adjusted_rand_index(torch.tensor([0, 1, 0, 1]), torch.tensor([0, 0, 1, 1]))
    -0.5
    """
    table = _table(assigned, truth)
    together, grouped, classed = _pairs(table)
    all_pairs = table.items * (table.items - 1) // 2
    # In whole numbers times twice the pairs there are: exact, however many.
    gained = 2 * (together * all_pairs - grouped * classed)
    most = (grouped + classed) * all_pairs - 2 * grouped * classed
    return gained / most if most else 1.0


def pairwise_f1(assigned: Tensor, truth: Tensor) -> float:
    """Precision and recall of "these two are in one group" as "of one class", 2PR / (P + R), over all pairs.

    The F1 of metric-learning tables. Not corrected for chance. Where neither groups nor classes put any two
    together they agree, 1.

    >>> pairwise_f1(torch.tensor([0, 0, 0, 0]), torch.tensor([0, 0, 1, 1]))
    0.5
    """
    together, grouped, classed = _pairs(_table(assigned, truth))
    return 2 * together / (grouped + classed) if grouped + classed else 1.0


def purity(assigned: Tensor, truth: Tensor) -> float:
    """The share of items that are of the most frequent class of their group.

    Single items are pure, so it can only be compared at the same number of groups.

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
        shared = torch.arange(int(ends[-1]), device=size.device) - (
            ends - choices - lowest
        ).repeat_interleave(choices)
        chance = logs[group] + logs[size] + logs[items - group] + logs[items - size] - logs[items]
        chance -= (
            logs[shared] + logs[group - shared] + logs[size - shared] + logs[items - group - size + shared]
        )
        surprise = (items * shared.double() / (group * size.double())).log()
        total += times * float((count * shared.double() * surprise * chance.exp()).sum()) / items
    return total

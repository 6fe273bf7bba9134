"""Clustering: how much the groups found say about the true classes.

Strehl and Ghosh, "Cluster Ensembles: A Knowledge Reuse Framework for Combining Multiple Partitions",
JMLR 2002, normalised here by the arithmetic mean of the two entropies.
"""

import torch
from torch import Tensor

from samekind.measures.labels import check_labels


def normalised_mutual_information(assigned: Tensor, truth: Tensor) -> float:
    """Twice the mutual information of groups and classes, over the sum of their entropies.

    ``assigned`` and ``truth`` are (n,) whole numbers, the group and the class of each item; their
    names do not matter. 1 when the groups are the classes, 0 when they say nothing about them. One
    group and one class agree, 1; only one of the two undivided says nothing, 0. Not corrected for
    chance: many small groups score above 0 even when drawn at random.

    >>> normalised_mutual_information(torch.tensor([5, 5, 3, 3]), torch.tensor([0, 0, 1, 1]))
    1.0
    >>> normalised_mutual_information(torch.tensor([0, 1, 0, 1]), torch.tensor([0, 0, 1, 1]))
    0.0
    """
    check_labels(assigned, truth, name="assigned")
    groups, group, group_sizes = torch.unique(assigned, return_inverse=True, return_counts=True)
    classes, class_, class_sizes = torch.unique(truth, return_inverse=True, return_counts=True)
    if len(groups) == len(classes) == 1:
        return 1.0
    # Only the cells that hold items: the whole contingency table of 10,000 classes takes a gigabyte.
    cells, cell_sizes = torch.unique(group * len(classes) + class_, return_counts=True)
    group_of_cell, class_of_cell = cells // len(classes), cells % len(classes)
    independent = group_sizes[group_of_cell].double() * class_sizes[class_of_cell]
    surprise = (len(truth) * cell_sizes / independent).log()
    information = (cell_sizes * surprise).sum() / len(truth)
    # Rounding may lead a hair outside the range.
    return float((2 * information / (_entropy(group_sizes) + _entropy(class_sizes))).clamp(0, 1))


def _entropy(sizes: Tensor) -> Tensor:
    shares = sizes.double() / sizes.sum()
    return -torch.xlogy(shares, shares).sum()

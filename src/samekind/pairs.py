"""Which candidates an anchor should be close to, and which it should not.

Every loss and every miner takes two boolean masks of shape (anchors, candidates). The candidates are the
batch itself (pairs) or the class prototypes (classification): only the masks differ, so one loss serves both.
"""

from typing import Literal

import torch
from torch import Tensor

from samekind.errors import SettingError


def pair_masks(labels: Tensor, order: Literal["both", "one"] = "both") -> tuple[Tensor, Tensor]:
    """Positives and negatives of a batch against itself: (n,) -> two of (n, n).

    With order ``"one"`` a positive pair appears once, the earlier item as anchor; negatives always appear
    in both orders, because each anchor has its own.
    """
    if order not in ("both", "one"):
        raise SettingError(f'the order of pairs is "both" or "one"; got "{order}"')
    same = labels[:, None] == labels[None, :]
    negative = ~same
    positive = same.fill_diagonal_(False)  # an item is no pair with itself
    return (positive.triu() if order == "one" else positive), negative


def class_masks(labels: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """Positives and negatives of a batch against the prototypes: (n,) -> two of (n, classes).

    Raises ValueError for a label outside of the classes; on a GPU the device raises its own error.
    """
    if (
        labels.device.type == "cpu"
        and len(labels)
        and not 0 <= int(labels.min()) <= int(labels.max()) < classes
    ):
        raise ValueError(
            f"expected labels from 0 to {classes - 1}, one for each of the {classes} classes, "
            f"got {int(labels.min())} to {int(labels.max())}"
        )
    same = torch.zeros(len(labels), classes, dtype=torch.bool, device=labels.device)
    same.scatter_(1, labels[:, None], True)
    return same, ~same


def has_pairs(labels: Tensor) -> bool:
    """Whether items make pairs of one class and pairs of two: two classes or more, one with two items.

    >>> has_pairs(torch.tensor([0, 0, 1])), has_pairs(torch.tensor([0, 1, 2]))
    (True, False)
    """
    sizes = torch.unique(labels, return_counts=True)[1]
    return len(sizes) > 1 and bool((sizes > 1).any())

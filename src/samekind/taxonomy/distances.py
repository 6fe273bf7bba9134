"""Distances between classes, for trees: what they must be, and those of a confusion matrix."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from samekind.errors import DataError


def checked_distances(distances: Tensor, names: Sequence[str]) -> np.ndarray[Any, Any]:
    """The distances as an array (float64), the mean of both orders, with 0 from a class to itself.

    Raises DataError unless they are numbers of 0 or more, (classes, classes), of two classes or more.
    """
    matrix = distances.detach().cpu().double()
    if matrix.shape != (len(names), len(names)) or len(names) < 2:
        shape = tuple(distances.shape)
        raise DataError(
            f"expected distances (classes, classes) of two classes or more; got {shape} for {len(names)}"
        )
    if not matrix.isfinite().all() or (matrix < 0).any():
        row, column = divmod(int((~matrix.isfinite() | (matrix < 0)).flatten().int().argmax()), len(names))
        value = float(matrix[row, column])
        raise DataError(
            f'expected distances of 0 or more; that from "{names[row]}" to "{names[column]}" is {value}'
        )
    return ((matrix + matrix.T) / 2).fill_diagonal_(0).numpy()


def confusion_distances(confusion: Tensor) -> Tensor:
    """The distances of classes that are mistaken for one another, from how often: (classes, classes).

    ``confusion`` counts the items of the class of the row that were taken for the class of the column. Each
    row is divided by its sum, and the distance of two classes is half the sum of the differences of their
    rows (Godbole, 2002): 0 for classes that are answered alike, 1 for those that share no answer. A class
    without items has no answers of its own: it counts as always right. Raises DataError for anything but
    counts of 0 or more.
    """
    counts = confusion.detach().cpu().double()
    if (
        counts.ndim != 2
        or counts.shape[0] != counts.shape[1]
        or not counts.isfinite().all()
        or (counts < 0).any()
    ):
        raise DataError(f"expected counts of 0 or more, (classes, classes); got {tuple(confusion.shape)}")
    counts = torch.where(counts.sum(1, keepdim=True) > 0, counts, torch.eye(len(counts), dtype=counts.dtype))
    rows = counts / counts.sum(1, keepdim=True)
    return torch.cdist(rows, rows, p=1) / 2

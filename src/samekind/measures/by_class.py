"""Averages by class: each class counts the same, however many items it has."""

import torch
from torch import Tensor


def means_by_class(values: Tensor, labels: Tensor) -> dict[int, float]:
    """The mean value of each class, from values (n,) of items or queries and their labels (n,).

    NaN values are left out; `retrieval_values` returns NaN for queries with nothing to find. Classes whose
    values are all NaN are left out too.

    >>> means_by_class(torch.tensor([1.0, 0.0, 1.0]), torch.tensor([0, 0, 7]))
    {0: 0.5, 7: 1.0}
    """
    if values.ndim != 1 or values.shape != labels.shape or not len(values):
        shapes = f"{tuple(values.shape)} and {tuple(labels.shape)}"
        raise ValueError(f"expected values and labels of one shape (n,), at least one, got {shapes}")
    valid = ~values.isnan()
    names, members = torch.unique(labels[valid], return_inverse=True)
    sums = torch.zeros(len(names), dtype=torch.double, device=values.device)
    sums.index_add_(0, members, values.detach()[valid].double())
    return dict(zip(names.tolist(), (sums / members.bincount(minlength=len(names))).tolist(), strict=True))


def mean_over_classes(values: Tensor, labels: Tensor) -> float:
    """The mean of `means_by_class`, such as Recall@1 averaged by class.

    >>> mean_over_classes(torch.tensor([1.0, 0.0, 1.0]), torch.tensor([0, 0, 7]))
    0.75
    """
    means = means_by_class(values, labels).values()
    if not means:
        raise ValueError("expected at least one value that is not NaN, got only NaN")
    return sum(means) / len(means)

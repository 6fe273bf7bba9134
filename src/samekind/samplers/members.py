"""Which items belong to each class."""

import torch
from torch import Tensor


def members_by_class(labels: Tensor) -> dict[int, Tensor]:
    """Labels (n,) to the ascending indices of each class that occurs, in ascending order, on the CPU."""
    labels = labels.cpu()
    classes, counts = torch.unique(labels, return_counts=True)
    groups = torch.split(labels.argsort(stable=True), counts.tolist())
    return dict(zip(classes.tolist(), groups, strict=True))

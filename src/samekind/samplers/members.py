"""Which items belong to each class."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from samekind.data.words import listed


def members_by_class(labels: Tensor) -> dict[int, Tensor]:
    """Labels (n,) to the ascending indices of each class that occurs, in ascending order, on the CPU."""
    labels = labels.cpu()
    classes, counts = torch.unique(labels, return_counts=True)
    groups = torch.split(labels.argsort(stable=True), counts.tolist())
    return dict(zip(classes.tolist(), groups, strict=True))


def too_small(members: Mapping[int, Tensor], items: int, names: Sequence[str]) -> str:
    """The classes with fewer items, by their ``names`` where these are given; empty if there are none.

    >>> too_small({0: torch.arange(3), 1: torch.arange(1), 2: torch.arange(2)}, 3, ["owl", "wren", "gull"])
    'wren (1), gull (2)'
    """
    few = {label: len(places) for label, places in members.items() if len(places) < items}
    return listed(f"{names[label] if names else f'class {label}'} ({count})" for label, count in few.items())

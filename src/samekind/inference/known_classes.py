"""Which items are of classes that a space knows by name."""

import torch
from torch import Tensor

from samekind.data import Items
from samekind.space import MetricSpace


def labels_in(space: MetricSpace, items: Items) -> Tensor:
    """The class of each item as an index into the classes of the space, -1 if it is not there: (n,)."""
    position = {name: index for index, name in enumerate(space.classes)}
    return torch.tensor([position.get(name, -1) for name in items.classes])[items.labels.cpu()]


def class_names(items: Items) -> set[str]:
    """The names of the classes that have items."""
    return {items.classes[label] for label in items.labels.tolist()}


def knows(space: MetricSpace, items: Items) -> bool:
    """Whether the space knows the classes of all items."""
    return class_names(items) <= set(space.classes)


def divided(space: MetricSpace, items: Items) -> tuple[Items, Items]:
    """The items whose class the space knows by name, and the others."""
    is_known = labels_in(space, items) >= 0
    return items.take(is_known.nonzero().flatten()), items.take((~is_known).nonzero().flatten())

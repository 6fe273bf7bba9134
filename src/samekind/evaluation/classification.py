"""Which class is it?"""

import torch
from torch import Tensor

from samekind.data import Items
from samekind.evaluation.rows import Row
from samekind.inference import asking, device_of
from samekind.measures import accuracy
from samekind.space import Head, MetricSpace


def classification(space: MetricSpace, items: Items, z: Tensor, *, name: str) -> list[Row]:
    """Accuracy of each head that knows the classes of the items; no row where none does."""
    present = {items.classes[label] for label in items.labels.tolist()}
    if not present <= set(space.classes):
        return []
    return [
        Row(
            "classification",
            name,
            "accuracy",
            head,
            accuracy(predicted_labels(space, items, z, head), items.labels),
        )
        for head in heads(space)
    ]


def heads(space: MetricSpace) -> list[Head]:
    """The heads that can answer for all classes of the space."""
    trained = space.auxiliary is not None and set(space.auxiliary.prototypes.classes) == set(space.classes)
    return ["similarity", "auxiliary", "fused"] if trained else ["similarity"]


def predicted_labels(space: MetricSpace, items: Items, z: Tensor, head: Head = "similarity") -> Tensor:
    """The class the space gives each item, as an index into the items' classes (-1: a class they do not
    have).
    """
    position = {name: index for index, name in enumerate(items.classes)}
    with asking(space):
        names = space.classify(z.to(device_of(space)), head=head).classes
    return torch.tensor([position.get(name, -1) for name in names])

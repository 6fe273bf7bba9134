"""The tree of the classes of a run, as its losses, penalties and prototypes read it."""

from typing import NamedTuple, Self

import torch
from torch import Tensor
from torch.nn.functional import normalize

from samekind.data import Items
from samekind.data.drawing import draw
from samekind.errors import SettingError
from samekind.inference import embed
from samekind.losses.lineage import Lineage
from samekind.prototypes import class_means
from samekind.space import MetricSpace

#: Of so many training items, at most, the means of the classes are computed before training.
MOST_TURNED_BY = 5_000
#: How a user gives a run its tree.
GIVE = "name its file: taxonomy in the data settings, or --taxonomy FILE"


class ClassTree(NamedTuple):
    """The classes of a space in their tree."""

    distances: Tensor  # (classes, classes), along the edges
    lineage: Lineage

    def to(self, device: torch.device) -> Self:
        """The same on another device."""
        return type(self)(self.distances.to(device), self.lineage.to(device))


#: Two classes under one root.
TWO = ClassTree(torch.tensor([[0.0, 2.0], [2.0, 0.0]]), Lineage.of([-1, 0, 0], [1, 2]))


def class_tree(space: MetricSpace) -> ClassTree | None:
    """The classes of a space in its tree; None without a tree."""
    if space.tree is None:
        return None
    distances = space.tree.distances(space.classes).float()
    places = [space.tree.place(name) for name in space.classes]
    return ClassTree(distances, Lineage.of(space.tree.parents, places))


def place_prototypes(space: MetricSpace) -> None:
    """Place the prototypes of a space, and of its auxiliary head, where their layout says. Raises
    SettingError where that needs a tree and the space has none.
    """
    for where, part in (("run.space", space), ("run.space.auxiliary", space.auxiliary)):
        layout = getattr(part.prototypes, "layout", "random") if part is not None else "random"
        if layout == "random":
            continue
        if space.tree is None:
            raise SettingError(
                f'{where}.prototypes: the layout "{layout}" places the classes by their tree, which these '
                f"data lack; {GIVE}"
            )
        part.prototypes.place(space.tree)  # type: ignore[union-attr]


def turn_prototypes(space: MetricSpace, items: Items) -> None:
    """Turn the prototypes of a space towards the mean embeddings of these items, where they are to be turned;
    to be called before the first step.
    """
    if getattr(space.prototypes, "orientation", "free") == "free":
        return
    some = draw(items, most=MOST_TURNED_BY)
    z = normalize(embed(space, some.inputs), dim=1)
    means, _ = class_means(z, some.labels.cpu(), len(space.classes))
    space.prototypes.turn(means)  # type: ignore[attr-defined]

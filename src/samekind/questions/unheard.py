"""Items in which there is nothing to know them by: silence, or a hundredth of a second.

They get an answer like any other, because a space always has one. These words stand beside it.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from samekind.data import Collection, Stored
from samekind.data.words import counted, listed
from samekind.questions.embedded import Embedded
from samekind.space import MetricSpace

#: Items that are examined together.
AT_ONCE = 64


def unheard_in(space: MetricSpace, items: Collection | Embedded) -> tuple[str, ...]:
    """The ids of the items with nothing in them; none where only their embeddings are known."""
    if isinstance(items, Embedded):
        return ()
    return tuple(items.ids[place] for place in unheard_places(space, items.inputs))


def unheard_places(space: MetricSpace, inputs: Tensor | Stored) -> list[int]:
    """The places of the items with nothing in them."""
    unheard = None if space.reader is None else space.reader.medium.unheard
    if unheard is None:
        return []
    starts = range(0, len(inputs), AT_ONCE)
    parts = [unheard(inputs[start : start + AT_ONCE], space.reader) for start in starts]
    return torch.cat(parts).nonzero().flatten().tolist() if parts else []


def about_unheard(names: Sequence[str]) -> str | None:
    """The warning about them, None if there are none."""
    if not names:
        return None
    are = counted(len(names), "sound is", "sounds are")
    return f"{are} silent or shorter than 0.1 seconds, which tells nothing: {listed(names)}"

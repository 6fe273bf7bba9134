"""Fewer items, drawn so that there is still something to compare."""

import torch

from samekind.data.items import Items
from samekind.errors import SettingError

#: Classes are drawn whole, or with this many items at least, rather than all with one or two.
FEWEST_OF_A_CLASS = 10


def draw(items: Items, *, most: int, seed: int = 0) -> Items:
    """At most so many items, as many of each class as of any other where they have them, by ``seed``.

    Of few classes all are kept. Of many, so many that each can have ten items, or all it has: pairs of one
    class are what a measure of likeness needs most. From three items on no class has all, so that there are
    pairs of two classes as well. Items keep their order, and the class names stay.

    >>> from samekind.data.digits import digits
    >>> len(draw(digits(), most=100)), len(draw(digits(), most=5000))
    (100, 1797)
    """
    if most < 2:
        raise SettingError(f"expected to draw at least 2 items, to have a pair; got {most}")
    if len(items) <= most:
        return items
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(items), generator=generator)
    classes = torch.unique(items.labels.cpu())
    lots = classes[torch.randperm(len(classes), generator=generator)]
    each = min(max(most // len(classes), FEWEST_OF_A_CLASS), max(most // 2, 2))
    members = [order[items.labels.cpu()[order] == label] for label in lots]
    # A first round gives every class its due, a second the places that small classes left.
    places = torch.cat([*(part[:each] for part in members), *(part[each:] for part in members)])
    return items.take(places[:most].sort().values)

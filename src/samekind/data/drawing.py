"""Fewer items, drawn so that there is still something to compare."""

import torch
from torch import Tensor

from samekind.data.items import Items
from samekind.errors import SettingError

#: Classes are drawn whole, or with this many items at least, rather than all with one or two.
FEWEST_OF_A_CLASS = 10

#: All pairs of up to so many items are compared, two million; of a larger set as many items are drawn.
MOST_ITEMS = 2_000


def at_most(count: int, most: int, *, seed: int = 0) -> Tensor:
    """The places of at most ``most`` of ``count`` things, drawn at random by ``seed``, in ascending order.

    >>> at_most(3, 5).tolist(), len(at_most(100, 5))
    ([0, 1, 2], 5)
    """
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    return order[:most].sort().values


def draw(items: Items, *, most: int, seed: int = 0, balanced: bool = True) -> Items:
    """At most ``most`` items, drawn by ``seed``: as many of one class as of any other, as far as they have
    them, or with ``balanced=False`` all items with the same chance.

    A balanced draw keeps all classes if they are few. Of many it keeps so many that each has ten items, or
    all of its own, because measures need pairs of one class most. From three items on at least two classes
    are drawn. Items keep their order and class names.

    >>> from samekind.data import digits
    >>> len(draw(digits(), most=100)), len(draw(digits(), most=5000))
    (100, 1797)
    """
    if most < 2:
        raise SettingError(f"expected to draw at least 2 items, to have a pair; got {most}")
    if len(items) <= most:
        return items
    if not balanced:
        return items.take(at_most(len(items), most, seed=seed))
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(items), generator=generator)
    classes = torch.unique(items.labels.cpu())
    lots = classes[torch.randperm(len(classes), generator=generator)]
    share = min(max(most // len(classes), FEWEST_OF_A_CLASS), max(most // 2, 2))
    members = [order[items.labels.cpu()[order] == label] for label in lots]
    # The second round fills the places that small classes left.
    places = torch.cat([*(part[:share] for part in members), *(part[share:] for part in members)])
    return items.take(places[:most].sort().values)

"""Words for messages: numbers of things, lists of names; and the spelling of accents (`spelling.py`)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from samekind.spelling import composed as composed
from samekind.spelling import spelt_as as spelt_as

if TYPE_CHECKING:
    from samekind.data.items import Items

#: Names of classes, columns or items that one sentence lists.
MOST_NAMED = 10


def counted(number: int, one: str, many: str) -> str:
    """The number with the word that belongs to it, and the verb too where the word brings one.

    >>> counted(1, "class", "classes"), counted(1200, "class has", "classes have")
    ('1 class', '1,200 classes have')
    """
    return f"{number:,} {one if number == 1 else many}"


def counted_items(items: int, classes: int) -> str:
    """How many items there are, of how many classes.

    >>> counted_items(1, 2)
    '1 item of 2 classes'
    """
    return f"{counted(items, 'item', 'items')} of {counted(classes, 'class', 'classes')}"


def listed(names: Iterable[str], most: int = MOST_NAMED, separator: str = ", ") -> str:
    """The first names, and how many more there are.

    >>> listed("abcd", most=2)
    'a, b and 2 more'
    """
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return separator.join(names[:most]) + more


def named(items: "Items", place: int) -> str:
    """The name of an item in a message."""
    return items.ids[place] if items.ids is not None else f"item {place}"

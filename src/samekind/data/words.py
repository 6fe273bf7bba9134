"""Words for messages: numbers of things, lists of names, and the spelling of accents."""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

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


def listed(names: Iterable[str], most: int = MOST_NAMED, separator: str = ", ") -> str:
    """The first names, and how many more there are.

    >>> listed("abcd", most=2)
    'a, b and 2 more'
    """
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return separator.join(names[:most]) + more


def named(items: "Items", place: int) -> str:
    """What a message calls one of the items."""
    return items.ids[place] if items.ids is not None else f"item {place}"


def spelt_as(names: Sequence[str], known: Iterable[str]) -> list[str]:
    """Names as ``known`` has them, if one there differs only in how its accents are stored; else unchanged.

    macOS, and the archives it makes, store an accented letter as two characters (NFD), nearly all else as one
    (NFC). If both spellings are known, each stays itself.

    >>> spelt_as(["Mo\\u0308we", "Mowe"], ["M\\u00f6we"]) == ["M\\u00f6we", "Mowe"]
    True
    """
    exact = list(known)
    # Reversed, because the first of several equal ones counts.
    alike = {composed(name): name for name in reversed(exact)} | {name: name for name in exact}
    return [alike.get(name, alike.get(composed(name), name)) for name in names]


def composed(name: str) -> str:
    """The name with every accented letter as one character, where Unicode has one (NFC)."""
    return unicodedata.normalize("NFC", name)

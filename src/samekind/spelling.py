"""The spelling of names: one accented letter may be stored in two ways."""

import unicodedata
from collections.abc import Iterable, Sequence


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

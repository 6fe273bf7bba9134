"""Names that people read as one: an accented letter is stored as one sign or as two.

macOS, and the archives it makes, have two signs (NFD); nearly all else has one (NFC). As texts they differ.
"""

import unicodedata
from collections.abc import Iterable, Sequence


def spelt_as(names: Sequence[str], known: Iterable[str]) -> list[str]:
    """Names as ``known`` has them, where one there differs only in how its accents are stored; the others as
    they are. Where both spellings are known each is itself.

    >>> spelt_as(["Mo\\u0308we", "Mowe"], ["M\\u00f6we"]) == ["M\\u00f6we", "Mowe"]
    True
    """
    exactly = list(known)
    # Turned round, because of several that are the same the first counts.
    alike = {_composed(each): each for each in reversed(exactly)} | {each: each for each in exactly}
    return [alike.get(name, alike.get(_composed(name), name)) for name in names]


def _composed(name: str) -> str:
    """The name with every accented letter as one sign, as far as there is one."""
    return unicodedata.normalize("NFC", name)

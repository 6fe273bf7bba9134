"""The errors that a user can meet.

    SamekindError
    ├── DataError         the data is not what was expected
    ├── SettingError      a run, a part or an argument asks for something impossible or unknown
    │   └── PackageError  … or for a package that is not installed, or does not work here
    ├── SpaceError        a saved space is damaged, foreign, newer, or cannot answer the question
    ├── TrainingError     training cannot go on
    └── IndexServerError  the server that holds an index does not answer, or refused

Every message says what was expected, what came, and what to do. The command line prints it as one line.
"""

import difflib
from collections.abc import Iterable

MOST_LISTED = 20


class SamekindError(Exception):
    """Anything a user can correct; shown without a traceback."""


class DataError(SamekindError):
    """The data is not what was expected."""


class SettingError(SamekindError):
    """A run, a part or an argument asks for something impossible or unknown."""


class PackageError(SettingError):
    """A part needs a package that is not installed, or does not work here."""


class SpaceError(SamekindError):
    """A space cannot be read, or cannot answer the question."""


class TrainingError(SamekindError):
    """Training cannot go on."""


class IndexServerError(SamekindError):
    """The server of an index does not answer, or refused."""


def expect(given: object, types: type | tuple[type, ...], what: str) -> None:
    """Raise SettingError for an argument of another type; ``what`` says what is expected and where to get it.

    >>> expect([7, 8], str, 'a name, such as "7"')
    Traceback (most recent call last):
    samekind.errors.SettingError: expected a name, such as "7"; got list
    """
    if not isinstance(given, types):
        raise SettingError(f"expected {what}; got {'None' if given is None else type(given).__name__}")


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the nearest known one and, if few, all of them.

    >>> nearest("cosin", ["Cosine", "Dot"])
    'did you mean "Cosine"? Known: Cosine, Dot'
    """
    known = sorted(known)
    folded = {option.lower(): option for option in known}
    close = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.5)
    hint = f'did you mean "{folded[close[0]]}"? ' if close else ""
    listed = ", ".join(known[:MOST_LISTED]) or "none"
    return f"{hint}Known: {listed}" + (
        f", and {len(known) - MOST_LISTED} more" if len(known) > MOST_LISTED else ""
    )

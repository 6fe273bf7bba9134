"""What a source of files says before any of them is decoded."""

from collections.abc import Sequence
from dataclasses import dataclass

from samekind.data.counting import counted
from samekind.data.files import File


@dataclass(frozen=True)
class Listing:
    """Files with the names of their classes, and what may be known beside, one text for each file.

    ``empty`` are classes without a file; ``foreign`` are files that are neither pictures nor arrays;
    ``repeated`` are files that were named more than once and are here once.
    """

    name: str
    files: Sequence[File]
    labels: Sequence[str]
    ids: Sequence[str]
    domains: Sequence[str] | None = None
    parts: Sequence[str] | None = None
    groups: Sequence[str] | None = None
    empty: Sequence[str] = ()
    foreign: Sequence[str] = ()
    repeated: Sequence[str] = ()


def class_order(names: Sequence[str]) -> list[str]:
    """The different names, sorted: as numbers where all are whole numbers, else as texts.

    >>> class_order(["10", "9", "10"]), class_order(["b", "10", "9"])
    (['9', '10'], ['10', '9', 'b'])
    """
    different = set(names)
    if all(each.isdecimal() for each in different):
        return sorted(different, key=lambda each: (int(each), each))
    return sorted(different)


def foreign_files(number: int) -> str:
    """The beginning of what is said of files that hold no items."""
    return counted(
        number, "file is neither picture nor array and is", "files are neither pictures nor arrays and are"
    )

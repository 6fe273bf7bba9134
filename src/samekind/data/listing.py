"""What a source of files says before any of them is decoded."""

from collections.abc import Sequence
from dataclasses import dataclass

from samekind.data.counting import counted
from samekind.data.files import File

#: Endings of files that hold a sound.
SOUNDS = (".aac", ".aif", ".aiff", ".flac", ".m4a", ".mp3", ".ogg", ".opus", ".wav", ".wma")


@dataclass(frozen=True)
class Listing:
    """Files with the names of their classes, and what may be known beside, one text for each file.

    ``empty`` are folders without an item; ``foreign`` are files that are neither pictures nor arrays;
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


def foreign_files(names: Sequence[str], listed: str) -> str:
    """What is said of files that hold no items; ``listed`` names them, or the first of them."""
    begun = counted(
        len(names),
        "file is neither picture nor array and is",
        "files are neither pictures nor arrays and are",
    )
    return f"{begun} left out: {listed}{about_sounds(names)}"


def about_sounds(names: Sequence[str]) -> str:
    """How sounds come in, where there are any among these files; else nothing.

    >>> about_sounds(["notes.txt"]), about_sounds(["anna/1.WAV"])[:24]
    ('', '; sounds are not read: s')
    """
    if not any(each.lower().endswith(SOUNDS) for each in names):
        return ""
    return "; sounds are not read: save the features of each as a .npy array, in a folder for each class"

"""Files with their labels, before any of them is decoded."""

from collections.abc import Sequence
from dataclasses import dataclass

from samekind.data.files import File
from samekind.data.words import counted

#: Endings of files that hold a sound which libsndfile does not read.
OTHER_SOUNDS = (".aac", ".m4a", ".mp4", ".wma", ".webm")


@dataclass(frozen=True)
class Listing:
    """Files with the names of their classes and, where known, domains, parts and groups: one text a file.

    ``empty`` are folders without an item, ``foreign`` files that hold none,
    ``repeated`` files that were named more than once and are listed once.
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


def published(name: str, labels: Sequence[str], parts: Sequence[str]) -> Listing:
    """The listing of items that came in a few files, with their published parts, if there are two."""
    ids = [f"{part} {place}" for place, part in enumerate(parts)]
    return Listing(name, (), labels, ids, parts=parts if len(set(parts)) > 1 else None)


def class_order(names: Sequence[str]) -> list[str]:
    """The different names, sorted: as numbers where all are whole numbers, else as texts.

    >>> class_order(["10", "9", "10"]), class_order(["b", "10", "9"])
    (['9', '10'], ['10', '9', 'b'])
    """
    different = set(names)
    if all(name.isdecimal() for name in different):
        return sorted(different, key=lambda name: (int(name), name))
    return sorted(different)


def foreign_files(names: Sequence[str], listed: str) -> str:
    """The sentence about files that hold no items; ``listed`` names some of them."""
    number = counted(
        len(names),
        "file is neither picture, sound nor array and is",
        "files are neither pictures, sounds nor arrays and are",
    )
    return f"{number} left out: {listed}{about_sounds(names)}"


def about_sounds(names: Sequence[str]) -> str:
    """The advice on sounds that cannot be read, if there are any among these files.

    >>> about_sounds(["notes.txt"]), about_sounds(["anna/1.M4A"])[:19]
    ('', '; .m4a is not read:')
    """
    ending = next((name[-4:].lower() for name in names if name.lower().endswith(OTHER_SOUNDS)), None)
    return f"; {ending} is not read: convert sounds to .wav, .flac or .ogg" if ending else ""

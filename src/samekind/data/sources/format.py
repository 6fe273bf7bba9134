"""The protocol of a format of data."""

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple, Protocol

from torch import Tensor

from samekind.data.files import TABLES, File
from samekind.data.items import Items
from samekind.data.media import Reader
from samekind.data.settings import DataSettings
from samekind.data.sources.listing import Listing
from samekind.data.words import named
from samekind.errors import DataError


class Block(NamedTuple):
    """Unlabelled items from one place: files that are still to be read, or rows (n, …).

    ``labels`` and ``groups`` are known where folders or tables name them.
    """

    content: list[File] | Tensor
    ids: list[str]
    labels: Sequence[str | None]
    groups: Sequence[str | None] | None = None


class Use(NamedTuple):
    """How unlabelled content is read. The first of the ``choices`` counts; the others name columns for tables
    that do not have its own. ``id_column`` is the column of tables that names the rows.
    """

    reader: Reader
    choices: Sequence[DataSettings]
    id_column: str | None = None


def block_of(items: Items, reader: Reader, path: Path) -> Block:
    """Labelled items as content for use; pictures are brought to the reader's shape."""
    rows = shaped(items.inputs[:], reader, path)
    labels = [items.classes[label] for label in items.labels.tolist()]
    groups = None if items.groups is None else [str(group) for group in items.groups.tolist()]
    return Block(rows, [f"{path}, {named(items, place)}" for place in range(len(rows))], labels, groups)


def block_of_rows(rows: Tensor, reader: Reader, path: File) -> Block:
    """Rows (n, …) without labels."""
    rows = shaped(rows, reader, path)
    return Block(rows, [f"{path}, item {place}" for place in range(len(rows))], [None] * len(rows))


def shaped(rows: Tensor, reader: Reader, path: File) -> Tensor:
    """Rows (n, …) in the reader's shape; pictures of bytes are resized. Raises DataError for other shapes."""
    rows = reader.medium.refitted(rows, reader)
    if tuple(rows.shape[1:]) != reader.shape:
        raise DataError(f"{path} holds items of shape {tuple(rows.shape[1:])}; expected {reader.shape}")
    return rows


def may_read(reader: Reader, name: str) -> bool:
    """Whether a file in a folder or archive may hold items for the reader, by the ending of its name."""
    ending = PurePosixPath(name).suffix.lower()
    return reader.medium.takes(ending) or (bool(reader.columns) and ending in TABLES)


class Format(Protocol):
    """A module that reads one format of data."""

    #: What people call it, for the sentence that lists all formats; empty for what cannot be opened.
    FORMAT: str

    def recognises(self, path: Path, settings: DataSettings, reader: Reader | None) -> bool:
        """Whether a file or folder has this format and, with a reader, holds items for it."""
        ...

    def labelled(self, path: Path, settings: DataSettings) -> Items | Listing:
        """The labelled items, or the files they are in."""
        ...

    def unlabelled(self, path: Path, use: Use) -> Iterator[Block]:
        """The content, for use, with labels where they are known."""
        ...

"""Where items come from: one file a format, which recognises a path and opens it, with labels or without.

`FORMATS` is the one list of them, the more special before the more general.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from samekind.data.files import Upload, exists, is_array
from samekind.data.media import Reader
from samekind.data.settings import DataSettings
from samekind.data.sources import (
    archives,
    cifar,
    folders,
    idx,
    manifests,
    named,
    npy,
    npz,
    single_files,
    sprites,
    tables,
)
from samekind.data.sources.format import Block, Format, Use
from samekind.data.sources.named import NAMED, is_named
from samekind.data.sources.table_files import is_table
from samekind.errors import DataError, expect, nearest

__all__ = ["FORMATS", "KNOWN", "NAMED", "expect_source", "format_of", "is_named", "unlabelled_upload"]

FORMATS: tuple[Format, ...] = (
    sprites,
    cifar,
    idx,
    npz,
    manifests,
    tables,
    archives,
    folders,
    npy,
    single_files,
)

#: The sentence that lists the formats.
KNOWN = ", ".join(format.FORMAT for format in (named, *reversed(FORMATS)) if format.FORMAT)


def expect_source(source: object) -> None:
    """Raise SettingError for anything but a name or a path."""
    expect(source, (str, os.PathLike), f"a name or a path of data: {KNOWN}")


def format_of(source: str | Path, settings: DataSettings, reader: Reader | None = None) -> Format:
    """The format of a source. With a reader the content is unlabelled: every file then has a format, at least
    as a single item, and a file goes before a name.

    Raises DataError if the source does not exist or has no known format.
    """
    path = Path(source)
    if is_named(source) if reader is None else is_named(path.as_posix()) and not exists(path):
        return named
    if reader is None and not exists(path):
        is_name = len(path.parts) == 1 and not path.suffix
        raise DataError(
            f'there is no data "{source}", nor a file or folder of that name; {nearest(str(source), NAMED)}'
            if is_name
            else f"there is no file or folder {source}; expected {KNOWN}"
        )
    for format in FORMATS:
        if format.recognises(path, settings, reader):
            return format
    raise DataError(f"cannot tell what {source} is; expected {KNOWN}")


def unlabelled_upload(upload: Upload, use: Use) -> Iterator[Block]:
    """The content of a file in memory: the rows of a table, the items of an array, or one item."""
    if is_table(upload):
        return tables.unlabelled(upload, use)
    return npy.unlabelled(upload, use) if is_array(upload) else single_files.unlabelled(upload, use)

"""A single picture, without a label."""

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from samekind.data.files import File
from samekind.data.media import PICTURES, Reader
from samekind.data.settings import DataSettings
from samekind.data.sources.format import Block, Use
from samekind.errors import DataError

FORMAT = ""


def recognises(path: Path, settings: DataSettings, reader: Reader | None) -> bool:
    """Any picture; with a reader any file, whose content the reader checks."""
    return reader is not None or path.suffix.lower() in PICTURES.endings


def labelled(path: Path, settings: DataSettings) -> NoReturn:
    """Raises DataError: there is no label."""
    raise DataError(
        f"{path} is a single picture, without a label; put the pictures of each class in a folder"
    )


def unlabelled(path: File, use: Use) -> Iterator[Block]:
    """The file as one item."""
    yield Block([path], [str(path)], [None])

"""A single picture or sound, without a label."""

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from samekind.data.files import File
from samekind.data.media import WITH_FILES, Reader, medium_of_files
from samekind.data.settings import DataSettings
from samekind.data.sources.format import Block, Use
from samekind.errors import DataError

FORMAT = ""


def recognises(path: Path, settings: DataSettings, reader: Reader | None) -> bool:
    """Any picture or sound; with a reader any file, whose content the reader checks."""
    return reader is not None or any(path.suffix.lower() in medium.endings for medium in WITH_FILES)


def labelled(path: Path, settings: DataSettings) -> NoReturn:
    """Raises DataError: there is no label."""
    many = medium_of_files([path.name]).name
    raise DataError(
        f"{path} is a single {many.removesuffix('s')}, without a label; "
        f"put the {many} of each class in a folder"
    )


def unlabelled(path: File, use: Use) -> Iterator[Block]:
    """The file as one item."""
    yield Block([path], [str(path)], [None])

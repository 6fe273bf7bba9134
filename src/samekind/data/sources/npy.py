"""A .npy file: an array of one item, or of many, without labels."""

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from samekind.data.files import File, is_array
from samekind.data.media import Reader
from samekind.data.media.arrays import as_inputs, load_array
from samekind.data.settings import DataSettings
from samekind.data.sources.format import Block, Use, block_of_rows
from samekind.errors import DataError

FORMAT = ""


def recognises(path: Path, settings: DataSettings, reader: Reader | None) -> bool:
    """Any .npy file."""
    return is_array(path) and path.is_file()


def labelled(path: Path, settings: DataSettings) -> NoReturn:
    """Raises DataError: there are no labels."""
    raise DataError(f"{path} is an array without labels; save inputs and labels with numpy.savez")


def unlabelled(path: File, use: Use) -> Iterator[Block]:
    """The items of an array with one dimension more than an item has; else the file as one item."""
    array = load_array(path)
    if array.ndim == len(use.reader.shape) + 1:
        yield block_of_rows(as_inputs(array, str(path)), use.reader, path)
    else:
        yield Block([path], [str(path)], [None])

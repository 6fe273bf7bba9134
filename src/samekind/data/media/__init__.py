"""What items are: pictures, vectors (and rows of tables), arrays. One file a medium, with its readers.

A reader turns a file, or the bytes of one, into the tensor of an item. It is saved with a space as its name
and arguments, so that files are read at use as they were in training. Its ``columns`` are those of tables
that it takes by name; most readers have none.
"""

from typing import TYPE_CHECKING

from samekind.data.media.arrays import ARRAYS, ArrayReader
from samekind.data.media.medium import Medium, Problem, Shape, Suited, has_pixels, scaled
from samekind.data.media.pictures import PICTURES, ImageReader
from samekind.data.media.vectors import VECTORS, TableReader, VectorReader
from samekind.errors import DataError

if TYPE_CHECKING:
    from samekind.data.items import Items

__all__ = [
    "ARRAYS",
    "PICTURES",
    "VECTORS",
    "ArrayReader",
    "ImageReader",
    "Medium",
    "Problem",
    "Reader",
    "Shape",
    "Suited",
    "TableReader",
    "VectorReader",
    "medium_of",
    "reader_for",
    "scaled",
]

Reader = ImageReader | VectorReader | TableReader | ArrayReader


def medium_of(shape: Shape) -> Medium:
    """The medium of items of which the shape (of one, without the batch) alone is known.

    >>> medium_of((1, 8, 8)).name, medium_of((64,)).name, medium_of((40, 300)).name
    ('pictures', 'vectors', 'arrays')
    """
    if has_pixels(shape):
        return PICTURES
    return VECTORS if len(shape) == 1 else ARRAYS


def reader_for(items: "Items") -> Reader:
    """The reader these items were read with or, if they came without one, the reader for their shape."""
    if items.reader is not None:
        return items.reader
    if items.medium.units(items.shape) is None:
        advice = ""
        if len(items.shape) == 2:
            rows, columns = items.shape
            advice = (
                f": save each array as array[None], (1, {rows}, {columns}), to have it read as an array with "
                "one channel, or save its mean over time, a vector"
            )
        raise DataError(
            f"no reader gives items of shape {items.shape}, as {items.name} has; there are readers for "
            "vectors (dimension,), images (1 or 3, height, width) and arrays (channels, height, width)"
            f"{advice}"
        )
    return items.medium.reader(items.shape)

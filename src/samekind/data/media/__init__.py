"""Media, the kinds of items: pictures, sounds, vectors (and rows of tables), arrays. One file a medium and
its readers.

A reader turns a file, or the bytes of one, into the tensor of an item. It is saved with a space as its name
and arguments, so that files are read at use as they were in training. Its ``columns`` are those of tables
that it takes by name; most readers have none.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from samekind.data.media.arrays import ARRAYS, ArrayReader
from samekind.data.media.medium import Medium, Problem, Shape, Suited, has_pixels, scaled
from samekind.data.media.pictures import PICTURES, ImageReader
from samekind.data.media.sounds import SOUNDS, SoundReader, is_sound
from samekind.data.media.vectors import VECTORS, TableReader, VectorReader
from samekind.errors import DataError

if TYPE_CHECKING:
    from samekind.data.items import Items

__all__ = [
    "ARRAYS",
    "PICTURES",
    "SOUNDS",
    "VECTORS",
    "WITH_FILES",
    "ArrayReader",
    "Decoder",
    "ImageReader",
    "Medium",
    "Problem",
    "Reader",
    "Shape",
    "SoundReader",
    "Suited",
    "TableReader",
    "VectorReader",
    "medium_of",
    "medium_of_files",
    "reader_for",
    "scaled",
]

Reader = ImageReader | SoundReader | VectorReader | TableReader | ArrayReader

#: Readers of files that may stay where they are until they are needed.
Decoder = ImageReader | SoundReader

#: The media that have files of their own.
WITH_FILES = (PICTURES, SOUNDS)


def medium_of_files(names: Iterable[str]) -> Medium:
    """The medium that most of these files hold, by their endings; pictures, if as many are sounds.

    >>> medium_of_files(["a.wav", "b.WAV", "cover.png"]).name, medium_of_files(["a.wav", "b.png"]).name
    ('sounds', 'pictures')
    """
    endings = Counter(PurePosixPath(name).suffix.lower() for name in names)
    counts = {medium: sum(endings[ending] for ending in medium.endings) for medium in WITH_FILES}
    return SOUNDS if counts[SOUNDS] > counts[PICTURES] + endings[".npy"] else PICTURES


def medium_of(shape: Shape) -> Medium:
    """The medium of items of which the shape (of one, without the batch) alone is known.

    >>> [medium_of(shape).name for shape in ((1, 8, 8), (64,), (40, 300), (1, 16000))]
    ['pictures', 'vectors', 'arrays', 'sounds']
    """
    if has_pixels(shape):
        return PICTURES
    if is_sound(shape):
        return SOUNDS
    return VECTORS if len(shape) == 1 else ARRAYS


def reader_for(items: "Items") -> Reader:
    """The reader these items were read with or, if they came without one, the reader for their shape."""
    if items.reader is not None:
        return items.reader
    if items.medium.units(items.shape) is None and items.medium is not SOUNDS:
        advice = ""
        if len(items.shape) == 2:
            rows, columns = items.shape
            advice = (
                f": save each array as array[None], (1, {rows}, {columns}), to have it read as an array with "
                "one channel, or save its mean over time, a vector"
            )
        raise DataError(
            f"no reader gives items of shape {items.shape}, as {items.name} has; there are readers for "
            "vectors (dimension,), sounds (1, samples), images (1 or 3, height, width) and arrays "
            "(channels, height, width)"
            f"{advice}"
        )
    return items.medium.reader(items.shape)

"""The sizes and colours of many pictures, read from the start of each file."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median_low

from samekind.data.files import File, opened
from samekind.data.media.pictures import ImageReader, picture_reader
from samekind.data.settings import DataSettings
from samekind.data.stored import pool
from samekind.decoding import pixels
from samekind.decoding.pixels import Heading
from samekind.errors import DataError

#: Pictures of different sizes are brought to the side of the one in the middle. Up to `SMALL` it stays as it
#: is; above, it suits a pretrained network, which sees little below `LEAST` and takes long beyond `LARGEST`.
SMALL, LEAST, LARGEST = 32, 112, 224


def read_headings(files: Sequence[File], *, workers: int = 0) -> list[Heading | DataError]:
    """The heading of each picture, or the reason why it cannot be read; nothing is decoded."""
    return list(pool(workers).map(_attempt, files))


def reader_of(headings: Sequence[Heading], settings: DataSettings) -> ImageReader:
    """The reader for pictures with these headings, which decide what the settings do not."""
    first = headings[0]
    height, width = (
        (first.height, first.width) if settings.sides or not differ(headings) else _sides(headings)
    )
    return picture_reader(height, width, 1 if all(heading.grey for heading in headings) else 3, settings)


def differ(headings: Sequence[Heading]) -> bool:
    """Whether the pictures have different sizes."""
    return len({(heading.height, heading.width) for heading in headings}) > 1


def size_chosen(headings: Sequence[Heading], settings: DataSettings) -> tuple[DataSettings, str] | None:
    """The settings with the side that pictures of different sizes are brought to, and a sentence about it.
    None if a size is given, or if the pictures have one.
    """
    if settings.sides is not None or not differ(headings):
        return None
    sizes = {(heading.height, heading.width) for heading in headings}
    small, large, (side, _) = min(sizes, key=_area), max(sizes, key=_area), _sides(headings)
    sentence = (
        f"the pictures have {len(sizes)} different sizes, from {_written(small)} to {_written(large)}; "
        f"all are brought to {side} x {side}; --size names another (size in a run file or in DataSettings)"
    )
    return replace(settings, size=side), sentence


def _attempt(file: File) -> Heading | DataError:
    try:
        with opened(file) as stream:
            return pixels.heading(stream)
    except DataError as error:
        return error
    # Pillow fails in many ways, and all mean that the file cannot be read.
    except Exception as error:
        return DataError(f"cannot read {file}: {pixels.reason(error)}")


def _sides(headings: Sequence[Heading]) -> tuple[int, int]:
    """A square of the shorter side of the picture in the middle; above `SMALL` within bounds."""
    middle = median_low(min(heading.height, heading.width) for heading in headings)
    side = middle if middle <= SMALL else min(max(middle, LEAST), LARGEST)
    return side, side


def _area(size: tuple[int, int]) -> tuple[int, int]:
    return size[0] * size[1], size[0]


def _written(size: tuple[int, int]) -> str:
    """Width before height, as is usual for pictures."""
    return f"{size[1]} x {size[0]}"

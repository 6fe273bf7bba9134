"""The sizes and colours of many pictures, read from the start of each file."""

from collections import Counter
from collections.abc import Sequence
from statistics import median_low

from samekind.data.files import File, opened
from samekind.data.media.pictures import LARGE, ImageReader, picture_reader
from samekind.data.settings import DataSettings
from samekind.data.stored import pool
from samekind.decoding import pixels
from samekind.decoding.pixels import Heading
from samekind.errors import DataError

#: Pictures up to this side are proposed as they are; larger ones at the side of pretrained networks at most.
SMALL, LARGEST = 32, 224


def read_headings(files: Sequence[File], *, workers: int = 0) -> list[Heading | DataError]:
    """The heading of each picture, or the reason why it cannot be read; nothing is decoded."""
    return list(pool(workers).map(_attempt, files))


def reader_of(headings: Sequence[Heading], settings: DataSettings) -> ImageReader:
    """The reader for pictures with these headings, which decide what the settings do not, if they agree."""
    sizes = Counter((heading.height, heading.width) for heading in headings)
    if settings.sides is None and len(sizes) > 1:
        small, large = min(sizes, key=_area), max(sizes, key=_area)
        raise DataError(
            f"the pictures have {len(sizes)} different sizes, from {_written(small)} to {_written(large)}; "
            f"give one size for all, such as --size {_proposed(headings)} "
            "(size in a run file or in DataSettings)"
        )
    height, width = next(iter(sizes))
    return picture_reader(height, width, 1 if all(heading.grey for heading in headings) else 3, settings)


def _attempt(file: File) -> Heading | DataError:
    try:
        with opened(file) as stream:
            return pixels.heading(stream)
    except DataError as error:
        return error
    # Pillow fails in many ways, and all mean that the file cannot be read.
    except Exception as error:
        return DataError(f"cannot read {file}: {pixels.reason(error)}")


def _proposed(headings: Sequence[Heading]) -> int:
    """The shorter side of the picture in the middle. Above `SMALL` it is a side that suits a pretrained
    network: 45 pixels would be just too few for one, and more than `LARGEST` take long.
    """
    middle = median_low(min(heading.height, heading.width) for heading in headings)
    return middle if middle <= SMALL else min(max(middle, LARGE), LARGEST)


def _area(size: tuple[int, int]) -> tuple[int, int]:
    return size[0] * size[1], size[0]


def _written(size: tuple[int, int]) -> str:
    """Width before height, as is usual for pictures."""
    return f"{size[1]} x {size[0]}"

"""The sizes and colours of many pictures, read from the start of each file."""

from collections import Counter
from collections.abc import Sequence
from statistics import median_low

from samekind.data import pictures
from samekind.data.decoding import pool
from samekind.data.files import File, opened
from samekind.data.pictures import Heading
from samekind.data.readers import ImageReader
from samekind.data.settings import DataSettings
from samekind.errors import DataError


def headings(files: Sequence[File], *, workers: int = 0) -> list[Heading | DataError]:
    """What each picture says about itself, or why it cannot be read; nothing is decoded."""
    return list(pool(workers).map(_attempt, files))


def reader_of(found: Sequence[Heading], settings: DataSettings) -> ImageReader:
    """The reader for pictures like these, which decide what the settings leave open, if they agree."""
    sizes = Counter((each.height, each.width) for each in found)
    sides = settings.sides
    if sides is None and len(sizes) > 1:
        small, large = min(sizes, key=_area), max(sizes, key=_area)
        # A size that half of them have the pixels for; the commonest may be that of a few.
        middle = median_low(min(each.height, each.width) for each in found)
        raise DataError(
            f"the pictures have {len(sizes)} different sizes, from {_written(small)} to {_written(large)}; "
            f"say which size to bring them to, such as --size {middle} "
            "(size in a run file or in DataSettings)"
        )
    height, width = sides if sides is not None else next(iter(sizes))
    channels = settings.channels or (1 if all(each.grey for each in found) else 3)
    return ImageReader(
        height=height,
        width=width,
        channels=channels,
        fit=settings.fit,
        background=settings.background,
        cut_from=settings.larger_sides,
        white=settings.white,
    )


def _attempt(file: File) -> Heading | DataError:
    try:
        with opened(file) as stream:
            return pictures.heading(stream)
    except DataError as error:
        return error
    # As for decoding: however Pillow fails, the file cannot be read.
    except Exception as error:
        return DataError(f"cannot read {file}: {pictures.reason(error)}")


def _area(size: tuple[int, int]) -> tuple[int, int]:
    return size[0] * size[1], size[0]


def _written(size: tuple[int, int]) -> str:
    """Width before height, as pictures are spoken of."""
    return f"{size[1]} x {size[0]}"

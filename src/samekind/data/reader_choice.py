"""Which reader gives tensors like those of some items."""

from samekind.data.items import Items
from samekind.data.pictures import MODES
from samekind.data.readers import ImageReader, Reader, VectorReader
from samekind.errors import DataError


def reader_for(items: Items) -> Reader:
    """The reader these items were read with or, where none was needed, one of their shape."""
    if items.reader is not None:
        return items.reader
    match items.shape:
        case (dimension,):
            return VectorReader(dimension=dimension)
        case (channels, height, width) if channels in MODES:
            return ImageReader(height=height, width=width, channels=channels)
    raise DataError(
        f"no reader gives items of shape {items.shape}, as {items.name} has; "
        f"there are readers for vectors (dimension,) and images (1 or 3, height, width){_way_out(items)}"
    )


def _way_out(items: Items) -> str:
    """What to do with arrays such as those of features over time."""
    if len(items.shape) != 2:
        return ""
    rows, columns = items.shape
    return (
        f": save each array as array[None], (1, {rows}, {columns}), to have it taken for a picture with one "
        f"channel, or its mean over time, a vector"
    )

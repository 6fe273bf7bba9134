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
        "there are readers for vectors (dimension,) and images (1 or 3, height, width)"
    )

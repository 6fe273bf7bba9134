"""A small picture of an item: made when it is added to a gallery, or from its file."""

import base64
import io
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from samekind.data import Reader
from samekind.errors import DataError
from samekind.index.contract import Metadata

#: The name under which a thumbnail is kept with an item, and pixels of its longer side.
KEPT, SIDE = "thumbnail", 96


def png_of(item: Tensor, reader: Reader) -> bytes | None:
    """An item as a PNG file of at most `SIDE` pixels a side; None where its medium cannot be shown."""
    from PIL import Image

    if not reader.medium.shows(item.shape):
        return None
    pixels = (reader.medium.thumbnails(item).clamp(0, 1) * 255).round().to(torch.uint8).movedim(0, -1).numpy()
    picture = Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)
    picture.thumbnail((SIDE, SIDE))
    content = io.BytesIO()
    picture.save(content, format="PNG", optimize=True)
    return content.getvalue()


def text_of(item: Tensor, reader: Reader) -> str | None:
    """The same as a text to keep with the item."""
    png = png_of(item, reader)
    return None if png is None else base64.b64encode(png).decode()


def has_thumbnail(id: str, metadata: Metadata, reader: Reader) -> bool:
    """Whether there is a picture of an item of a gallery."""
    return KEPT in metadata or _file_of(id, metadata, reader) is not None


def thumbnail_of(id: str, metadata: Metadata, reader: Reader) -> bytes | None:
    """The picture that is kept with an item of a gallery, or that of its file; None if there is neither."""
    text: Any = metadata.get(KEPT)
    if isinstance(text, str):
        try:
            return base64.b64decode(text, validate=True)
        except ValueError:
            return None
    path = _file_of(id, metadata, reader)
    try:
        return None if path is None else png_of(reader.read(path), reader)
    except DataError:  # it is another file now, or damaged
        return None


def _file_of(id: str, metadata: Metadata, reader: Reader) -> Path | None:
    path = metadata.get("path", id)  # it is kept where it is not the id
    if not isinstance(path, str) or Path(path).suffix.lower() not in reader.medium.endings:
        return None
    return Path(path) if Path(path).is_file() else None

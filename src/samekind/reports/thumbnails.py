"""Pictures as the encoder sees them, as parts of a page."""

import base64
import io
from html import escape

import torch
from torch import Tensor

from samekind.data import medium_of

#: CSS pixels of the longer side.
SIDE = 84


def thumbnail(image: Tensor, *, words: str, title: str) -> str:
    """HTML of a picture (1 or 3, height, width), or of a sound, with words below it and a title as tooltip.

    Bytes and floats in [0, 1] are shown as they are, other floats rescaled. Pixels are not smoothed.
    """
    pixels = medium_of(image.shape).thumbnails(image)
    longer = max(pixels.shape[1:])
    height, width = (round(SIDE * side / longer) for side in pixels.shape[1:])
    return (
        f'<figure style="flex:0 0 {SIDE}px;margin:0" title="{escape(title)}">'
        f'<img style="width:{width}px;height:{height}px;image-rendering:pixelated" '
        f'width="{width}" height="{height}" alt="{escape(title)}" '
        f'src="data:image/png;base64,{_png(pixels)}">'
        f'<span style="font-size:12px;overflow-wrap:anywhere">{escape(words)}</span></figure>'
    )


def row(pictures: list[str]) -> str:
    """Thumbnails side by side, in as many lines as they need."""
    return f'<div style="display:flex;flex-wrap:wrap;gap:12px">{"".join(pictures)}</div>'


def _png(values: Tensor) -> str:
    """A picture with values in [0, 1] as the text of a PNG file."""
    from PIL import Image

    pixels = (values * 255).round().to(torch.uint8).movedim(0, -1).numpy()
    with io.BytesIO() as content:
        Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels).save(content, format="PNG")
        return base64.b64encode(content.getvalue()).decode()

"""A stored picture to bytes of one size, whatever way it was stored.

Decided once, here: a picture is turned the way its EXIF data say; of an animation the first frame counts;
transparency is laid on the background, white unless said otherwise, because what hides behind it is often
black; 16-bit greys are scaled, not cut off, from 0 to the value that is said to be white, 65,535 unless said
otherwise; CMYK and palettes become RGB.
"""

from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import torch
from PIL import Image, ImageOps, UnidentifiedImageError
from torch import Tensor

from samekind.data.settings import WHITE, Background, Fit
from samekind.errors import DataError
from samekind.storage import write_bytes

Pixels = np.ndarray[Any, np.dtype[np.uint8]]

MODES = {1: "L", 3: "RGB"}  # Pillow's names for grey and colour, by channels
GREY = frozenset({"1", "L", "LA", "La", "I;16", "I;16B", "I;16L", "I;16N", "I"})
MOST_PIXELS = "SAMEKIND_MOST_PIXELS"  # in the environment: what the commands decode

_ORIENTATION = 0x0112  # the EXIF tag; 5 to 8 lie on their side
_SIDEWAYS = (5, 6, 7, 8)
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_TIFF_WIDTH, _TIFF_HEIGHT = 256, 257


class Heading(NamedTuple):
    """What a picture says about itself before it is decoded."""

    height: int
    width: int
    grey: bool
    deep: bool = False  # greys of 16 bits


def heading(stream: BinaryIO) -> Heading:
    """The size as shown, that is after turning, and whether it is grey; only the start of a file is read."""
    with Image.open(stream) as stored:
        width, height = _stored_size(stored)
        if _is_sideways(stored):
            width, height = height, width
        return Heading(height=height, width=width, grey=stored.mode in GREY, deep=_is_deep(stored))


def highest(stream: BinaryIO) -> int:
    """The highest value that a grey picture holds, as it is stored."""
    with Image.open(stream) as stored:
        return int(np.asarray(stored).max())


def decode(
    stream: BinaryIO,
    *,
    height: int,
    width: int,
    channels: int,
    fit: Fit,
    background: Background,
    white: int = WHITE,
) -> Pixels:
    """The picture as (height, width, channels) bytes; ``white`` and all above it of 16 bits is 255."""
    with Image.open(stream) as stored:
        # A JPEG can be shrunk while it is decoded, which is several times faster; twice the size wanted is
        # kept, so that the filter below still decides what is seen.
        if stored.format in ("JPEG", "MPO"):
            wanted = (2 * height, 2 * width) if _is_sideways(stored) else (2 * width, 2 * height)
            stored.draft(MODES[channels], wanted)
        stored.load()  # before asking for the turn: a PNG may say it behind the picture
        # Not `exif_transpose`, which copies a picture that need not be turned, and that takes as long as
        # decoding a small one; and which writes the EXIF data anew, whatever their state.
        turn = _TURNS.get(_orientation(stored))
        turned = stored if turn is None else stored.transpose(turn)
        plain = _plain(turned, MODES[channels], background, white)
        image = _fitted(plain, height, width, fit, background)
        # Not `np.asarray`, which asks the picture about itself again and again before it copies it.
        return np.frombuffer(image.tobytes(), dtype=np.uint8).reshape(height, width, channels)


def refit(
    image: Pixels, *, height: int, width: int, channels: int, fit: Fit, background: Background
) -> Pixels:
    """A picture that is decoded already, (h, w, 1 or 3), as (height, width, channels)."""
    shown = Image.fromarray(image[:, :, 0] if image.shape[2] == 1 else image).convert(MODES[channels])
    return np.asarray(_fitted(shown, height, width, fit, background)).reshape(height, width, channels)


def reason(error: Exception) -> str:
    """Why a picture could not be decoded, for people: Pillow's decoders fail in a dozen ways."""
    if isinstance(error, Image.DecompressionBombError | Image.DecompressionBombWarning):
        most = 2 * (Image.MAX_IMAGE_PIXELS or 0)
        return (
            f"it has more pixels than the {most:,} that are decoded without asking; shrink it, or if you "
            f"trust it set {MOST_PIXELS} in the environment to a larger number (in Python, "
            "PIL.Image.MAX_IMAGE_PIXELS to half of it)"
        )
    if isinstance(error, UnidentifiedImageError):
        return "it is not an image, or of a format that cannot be read"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).split()) or type(error).__name__


def write_image(path: Path, image: Tensor) -> None:
    """Write an image (1 or 3, height, width), bytes or values in [0, 1], as 8-bit PNG.

    What ``ImageReader`` reads back is the same up to rounding to 1/255.
    """
    if image.dim() != 3 or len(image) not in MODES:
        raise DataError(f"an image is (1 or 3, height, width); got {tuple(image.shape)}")
    if image.dtype != torch.uint8:
        # Written so that NaN fails too.
        if not ((image >= 0) & (image <= 1)).all():
            raise DataError(
                f"an image has values in [0, 1]; got {float(image.min()):g} to {float(image.max()):g}"
            )
        image = (image.detach().cpu().double() * 255).round().to(torch.uint8)
    pixels = image.cpu().permute(1, 2, 0).numpy()
    encoded = BytesIO()
    Image.fromarray(pixels[:, :, 0] if len(image) == 1 else pixels).save(encoded, format="PNG")
    write_bytes(path, encoded.getvalue())


def _stored_size(stored: Image.Image) -> tuple[int, int]:
    """Width and height before any turning."""
    if stored.format == "TIFF":
        # Of a TIFF that lies on its side Pillow says the size as shown, or as stored, by its version.
        tags: Any = stored.tag_v2  # type: ignore[attr-defined]
        return tags[_TIFF_WIDTH], tags[_TIFF_HEIGHT]
    return stored.size


def _is_sideways(stored: Image.Image) -> bool:
    return _orientation(stored) in _SIDEWAYS


def _orientation(stored: Image.Image) -> Any:
    """How the picture is to be turned, as far as its EXIF data are read; None if they do not say."""
    try:
        # The method of the class, because that of a PNG decodes the whole picture to look behind it.
        return Image.Image.getexif(stored).get(_ORIENTATION)
    except Exception:
        # They fail in as many ways as pictures do, and a picture is no worse for it: it is shown as it is.
        return None


def _is_deep(image: Image.Image) -> bool:
    """Whether a picture has greys of 16 bits."""
    # Of the portable formats Pillow gives 16 bits in a mode of 32, scaled to the whole range.
    return image.mode.startswith("I;16") or (image.mode == "I" and image.format == "PPM")


def _plain(image: Image.Image, mode: str, background: Background, white: int) -> Image.Image:
    """The picture as plain greys or colours."""
    if _is_deep(image):
        # Pillow would cut 16-bit greys off at 255 rather than scale them.
        values = np.asarray(image).astype(np.float64) / (white / 255)
        image = Image.fromarray(values.round().clip(max=255).astype(np.uint8))
    elif image.mode in ("I", "F"):
        raise DataError("it has 32-bit pixels of unknown range; save it with 8 or 16 bits")
    elif image.mode in ("RGBA", "RGBa", "LA", "La", "PA") or "transparency" in image.info:
        above = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", above.size, background), above).convert("RGB")
    elif image.mode == "P":
        image = image.convert("RGB")
    return image if image.mode == mode else image.convert(mode)


def _fitted(image: Image.Image, height: int, width: int, fit: Fit, background: Background) -> Image.Image:
    """The picture in the size wanted: out of proportion, cut at the edges, or on a ground."""
    if image.size == (width, height):
        return image
    # Pillow widens the filter when it shrinks an image: this is antialiased.
    filter = Image.Resampling.BILINEAR
    if fit == "crop":
        return ImageOps.fit(image, (width, height), method=filter)
    if fit == "pad":
        # A smaller picture is not blown up: it is set in the middle as it is.
        shown = image
        if image.width > width or image.height > height:
            shown = ImageOps.contain(image, (width, height), method=filter)
        ground = Image.new(image.mode, (width, height), background)
        ground.paste(shown, ((width - shown.width) // 2, (height - shown.height) // 2))
        return ground
    return image.resize((width, height), filter)

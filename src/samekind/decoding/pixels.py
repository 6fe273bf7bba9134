"""Decoding of image files to bytes of one size.

A picture is turned as its EXIF data say. An animation gives its first frame. Transparent pictures are laid on
the background, by default white, because hidden pixels are often black. 16-bit greys are scaled, from 0 to
the value of white, by default 65,535. CMYK and palettes become RGB.
"""

from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from samekind.errors import DataError

Pixels = np.ndarray[Any, np.dtype[np.uint8]]
Fit = Literal["stretch", "crop", "pad"]
Background = Literal["white", "black"]

WHITE = 65_535  # the highest value of 16 bits

MODES = {1: "L", 3: "RGB"}  # Pillow's names for grey and colour, by channels
GREY = frozenset({"1", "L", "LA", "La", "I;16", "I;16B", "I;16L", "I;16N", "I"})
MOST_PIXELS = "SAMEKIND_MOST_PIXELS"  # the environment variable for the most pixels that commands decode

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
    """Size and colours of a picture, known before it is decoded."""

    height: int
    width: int
    grey: bool
    deep: bool = False  # greys of 16 bits


def heading(stream: BinaryIO) -> Heading:
    """The heading of a file, with the size after turning; only its start is read."""
    with Image.open(stream) as stored:
        width, height = _stored_size(stored)
        if _is_sideways(stored):
            width, height = height, width
        return Heading(height=height, width=width, grey=stored.mode in GREY, deep=_is_deep(stored))


def highest(stream: BinaryIO) -> int:
    """The highest stored value of a grey picture."""
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
    """The picture as (height, width, channels) bytes; 16-bit values of ``white`` and above become 255."""
    with Image.open(stream) as stored:
        # A JPEG can be shrunk while it is decoded, which is several times faster. Twice the size is kept, so
        # that the filter below still decides the result.
        if stored.format in ("JPEG", "MPO"):
            size = (2 * height, 2 * width) if _is_sideways(stored) else (2 * width, 2 * height)
            stored.draft(MODES[channels], size)
        stored.load()  # before asking for the turn: a PNG may have it behind the pixels
        # Not `exif_transpose`, which always copies the picture and rewrites its EXIF data.
        turn = _TURNS.get(_orientation(stored))
        turned = stored if turn is None else stored.transpose(turn)
        plain = _plain(turned, MODES[channels], background, white)
        image = _fitted(plain, height, width, fit, background)
        # Faster than `np.asarray` for small pictures.
        return np.frombuffer(image.tobytes(), dtype=np.uint8).reshape(height, width, channels)


def refit(
    image: Pixels, *, height: int, width: int, channels: int, fit: Fit, background: Background
) -> Pixels:
    """A decoded picture (h, w, 1 or 3) as (height, width, channels)."""
    shown = Image.fromarray(image[:, :, 0] if image.shape[2] == 1 else image).convert(MODES[channels])
    return np.asarray(_fitted(shown, height, width, fit, background)).reshape(height, width, channels)


def reason(error: Exception) -> str:
    """Why a picture could not be decoded, in words: Pillow's decoders fail in a dozen ways."""
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


def _stored_size(stored: Image.Image) -> tuple[int, int]:
    """Width and height before any turning."""
    if stored.format == "TIFF":
        # For a TIFF on its side Pillow gives the size as shown or as stored, depending on its version.
        tags: Any = stored.tag_v2  # type: ignore[attr-defined]
        return tags[_TIFF_WIDTH], tags[_TIFF_HEIGHT]
    return stored.size


def _is_sideways(stored: Image.Image) -> bool:
    return _orientation(stored) in _SIDEWAYS


def _orientation(stored: Image.Image) -> Any:
    """How the picture is turned, by its EXIF data; None if they are missing or broken."""
    try:
        # The method of the base class: that of a PNG decodes the whole picture to look behind it.
        return Image.Image.getexif(stored).get(_ORIENTATION)
    except Exception:
        # Broken EXIF data fail in many ways, and the picture is good without them.
        return None


def _is_deep(image: Image.Image) -> bool:
    """Whether a picture has greys of 16 bits."""
    # For PGM Pillow gives 16 bits in a mode of 32, scaled to the whole range.
    return image.mode.startswith("I;16") or (image.mode == "I" and image.format == "PPM")


def _plain(image: Image.Image, mode: str, background: Background, white: int) -> Image.Image:
    """The picture as plain greys or colours."""
    if _is_deep(image):
        # Pillow would clip 16-bit greys at 255.
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
    """The picture resized: stretched, cropped, or padded."""
    if image.size == (width, height):
        return image
    # Antialiased: Pillow widens the filter when it shrinks an image.
    filter = Image.Resampling.BILINEAR
    if fit == "crop":
        return ImageOps.fit(image, (width, height), method=filter)
    if fit == "pad":
        # A smaller picture is not enlarged.
        shown = image
        if image.width > width or image.height > height:
            shown = ImageOps.contain(image, (width, height), method=filter)
        ground = Image.new(image.mode, (width, height), background)
        ground.paste(shown, ((width - shown.width) // 2, (height - shown.height) // 2))
        return ground
    return image.resize((width, height), filter)

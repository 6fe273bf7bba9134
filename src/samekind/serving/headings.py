"""The size that the start of a file tells: what is too large is refused before it is decoded."""

import warnings
from collections.abc import Sequence
from io import BytesIO
from pathlib import PurePosixPath

from samekind.serving.engine import Upload
from samekind.serving.refusal import Refusal
from samekind.serving.settings import Limits

#: The formats of pictures that are decoded for strangers. Pillow knows more, some by way of other programs.
PICTURES = ("BMP", "GIF", "JPEG", "MPO", "PNG", "PPM", "TIFF", "WEBP")
#: Endings of pictures that a space reads from its own disk, and not from strangers.
NOT_READ = frozenset({".avif", ".jp2", ".tga"})
#: Tables that may unpack to any size.
PACKED = (".parquet", ".zip", ".npz", ".gz")
ARRAY = b"\x93NUMPY"


def check(uploads: Sequence[Upload], medium: str, limits: Limits) -> None:
    """Raise Refusal for a file that would decode to more than the limits allow, or is of another medium."""
    for upload in uploads:
        if not upload.content:
            raise Refusal(400, f"{upload.name} is empty; choose another file")
        if PurePosixPath(upload.name).suffix.lower() in PACKED:
            raise Refusal(415, f"{upload.name} is packed; send items one by one, or as .csv or .npy")
        if upload.content.startswith(ARRAY):
            continue  # as large in memory as it was sent
        if medium == "pictures":
            _check_picture(upload, limits.pixels)
        elif medium == "sounds":
            _check_sound(upload, limits.seconds)


def _check_picture(upload: Upload, most: int) -> None:
    from PIL import Image, UnidentifiedImageError

    Image.init()  # else only the commonest formats are known
    formats = [name for name in PICTURES if name in Image.OPEN]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow's own limit is another one
            with Image.open(BytesIO(upload.content), formats=formats) as picture:
                width, height = picture.size
    except UnidentifiedImageError:
        raise Refusal(
            415, f"{upload.name} is not a picture that can be read here; send {', '.join(PICTURES[:-1])}"
        ) from None
    except Image.DecompressionBombError:
        raise _too_many(upload, most) from None
    except Exception:  # a broken heading fails in a dozen ways
        raise Refusal(400, f"{upload.name} is broken: its heading cannot be read") from None
    if width * height > most:
        raise _too_many(upload, most)


def _too_many(upload: Upload, most: int) -> Refusal:
    return Refusal(413, f"{upload.name} has more than {most:,} pixels; shrink it")


def _check_sound(upload: Upload, most: float) -> None:
    try:
        import soundfile
    except (ImportError, OSError):
        raise Refusal(501, "this server cannot read sounds: soundfile is not installed there") from None
    try:
        heading = soundfile.info(BytesIO(upload.content))
    except Exception:  # libsndfile's errors, and those of a broken heading
        raise Refusal(
            415, f"{upload.name} is not a sound that can be read here; send WAV, FLAC, OGG or MP3"
        ) from None
    # A file of unknown length claims the most there can be; no more than the reader's seconds are decoded.
    if heading.frames < 2**31 - 1 and heading.duration > most:
        raise Refusal(413, f"{upload.name} is longer than {most:g} seconds; cut it")

"""How a stored item becomes a tensor.

A reader is saved with a space, as its name and arguments, so that a file is read at use as it was in
training.
"""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor

from samekind.data.items import Items, shape_of
from samekind.errors import DataError, SettingError
from samekind.storage import write_bytes

MODES = {1: "L", 3: "RGB"}  # Pillow's names for grey and colour, by channels


class ImageReader:
    """Image files, or .npy arrays, as (channels, height, width) float32.

    An image is turned the way its EXIF data say, made grey (1 channel) or colour (3; transparency is
    dropped), resized if it has another size, without keeping the proportions, and scaled to [0, 1]. An
    array must have the right shape; uint8 is scaled to [0, 1], floats are taken as they are.
    """

    def __init__(self, *, height: int, width: int, channels: int = 1) -> None:
        if channels not in MODES:
            raise SettingError(f"images are read with 1 channel (grey) or 3 (colour); got {channels}")
        if height < 1 or width < 1:
            raise SettingError(f"height and width must be at least 1; got {height} and {width}")
        self.height = height
        self.width = width
        self.channels = channels

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of what is read."""
        return self.channels, self.height, self.width

    def read(self, path: Path) -> Tensor:
        """The image in the file."""
        if path.suffix == ".npy":
            return read_array(path, self.shape)
        expected = f"expected an image or a .npy array of shape {self.shape}"
        try:
            with Image.open(path) as stored:
                pixels = self._pixels(stored, path)
        except FileNotFoundError:
            raise DataError(f"there is no file {path}; {expected}") from None
        except DataError:
            raise
        # Pillow's decoders fail in a dozen ways on a broken file, and all mean the same to the user.
        except Exception as error:
            raise DataError(f"cannot read {path}: {error}; {expected}") from error
        return (
            torch.from_numpy(pixels)
            .reshape(self.height, self.width, self.channels)
            .permute(2, 0, 1)
            .contiguous()
        )

    def _pixels(self, stored: Image.Image, path: Path) -> "np.ndarray[Any, np.dtype[np.float32]]":
        """(height, width) or (height, width, channels) in [0, 1]."""
        image = ImageOps.exif_transpose(stored)
        if image.mode.startswith("I;16"):
            # Pillow would cut 16-bit greys off at 255 rather than scale them.
            image = Image.fromarray((np.asarray(image) / 257).round().astype(np.uint8))
        elif image.mode in ("I", "F"):
            raise DataError(f"{path} has 32-bit pixels of unknown range; save it with 8 or 16 bits")
        elif image.mode == "P":
            # By way of RGBA, because a palette with transparency does not convert directly.
            image = image.convert("RGBA")
        image = image.convert(MODES[self.channels])
        if image.size != (self.width, self.height):
            # Pillow widens the filter when it shrinks an image: this is antialiased.
            image = image.resize((self.width, self.height), Image.Resampling.BILINEAR)
        return np.asarray(image, dtype=np.float32) / np.float32(255)


class VectorReader:
    """.npy arrays as (dimension,) float32, values taken as they are."""

    def __init__(self, *, dimension: int) -> None:
        if dimension < 1:
            raise SettingError(f"dimension must be at least 1; got {dimension}")
        self.dimension = dimension

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of what is read."""
        return (self.dimension,)

    def read(self, path: Path) -> Tensor:
        """The vector in the file."""
        if path.suffix != ".npy":
            raise DataError(f"cannot read {path}: vectors are stored as .npy arrays of shape {self.shape}")
        return read_array(path, self.shape)


def read_array(path: Path, shape: tuple[int, ...]) -> Tensor:
    """A .npy file of uint8 (scaled to [0, 1]) or floats (as they are) as float32; nothing is run."""
    expected = f"expected a .npy array of shape {shape}"
    try:
        array = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; {expected}") from None
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"cannot read {path}: {error}; {expected}") from error
    if not isinstance(array, np.ndarray) or array.shape != shape:
        came = f"shape {array.shape}" if isinstance(array, np.ndarray) else "an archive of several arrays"
        raise DataError(f"{path} does not fit: {expected}, got {came}")
    if array.dtype != np.uint8 and array.dtype.kind != "f":
        raise DataError(f"{path} does not fit: {expected} holding floats or uint8, got {array.dtype}")
    values = array.astype(np.float32) / np.float32(255 if array.dtype == np.uint8 else 1)
    if not np.isfinite(values).all():
        raise DataError(f"{path} holds values that are not finite (NaN or infinity)")
    return torch.from_numpy(values)


def reader_for(items: Items) -> ImageReader | VectorReader:
    """The reader whose tensors have the shape of these items."""
    match items.shape:
        case (dimension,):
            return VectorReader(dimension=dimension)
        case (channels, height, width) if channels in MODES:
            return ImageReader(height=height, width=width, channels=channels)
    raise DataError(
        f"no reader gives items of shape {items.shape}, as {items.name} has; "
        "there are readers for vectors (dimension,) and images (1 or 3, height, width)"
    )


def write_image(path: Path, image: Tensor) -> None:
    """Write an image (1 or 3, height, width) with values in [0, 1] as 8-bit PNG.

    What ``ImageReader`` reads back is the same up to rounding to 1/255.
    """
    if image.dim() != 3 or len(image) not in MODES:
        raise DataError(f"an image is (1 or 3, height, width); got {shape_of(image)}")
    # Written so that NaN fails too.
    if not ((image >= 0) & (image <= 1)).all():
        raise DataError(
            f"an image has values in [0, 1]; got {float(image.min()):g} to {float(image.max()):g}"
        )
    pixels = (image.detach().cpu().double() * 255).round().to(torch.uint8).permute(1, 2, 0).numpy()
    encoded = BytesIO()
    Image.fromarray(pixels[:, :, 0] if len(image) == 1 else pixels).save(encoded, format="PNG")
    write_bytes(path, encoded.getvalue())

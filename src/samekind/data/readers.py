"""How a stored item becomes a tensor.

A reader is saved with a space, as its name and arguments, so that a file is read at use as it was in
training.
"""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from samekind.data import pictures
from samekind.data.files import TABLES, File, Member, is_array, opened
from samekind.data.pictures import MODES, WHITE, Background, Fit, Pixels
from samekind.data.scaling import scaled
from samekind.errors import DataError, SettingError


class ImageReader:
    """Image files, or .npy arrays, as (channels, height, width).

    An image is turned the way its EXIF data say, laid on the ``background`` where it is transparent, made
    grey (1 channel) or colour (3), and brought to size: ``fit`` "stretch" gives up the proportions, "crop"
    cuts off what juts out, "pad" keeps all of it on the background (and does not enlarge it). With
    ``cut_from``, height and width, it is brought to that size instead, and the middle is cut out. Of 16-bit
    greys ``white`` and all above it is white: 4095 for a camera of 12 bits. `read` gives float32 scaled to
    [0, 1], `pixels` the bytes. An array must have the right shape; uint8 is scaled to [0, 1], floats are
    taken as they are.
    """

    came_later = ("cut_from", "white")

    def __init__(
        self,
        *,
        height: int,
        width: int,
        channels: int = 1,
        fit: Fit = "stretch",
        background: Background = "white",
        cut_from: Sequence[int] | None = None,
        white: int = WHITE,
    ) -> None:
        if channels not in MODES:
            raise SettingError(f"images are read with 1 channel (grey) or 3 (colour); got {channels}")
        if height < 1 or width < 1:
            raise SettingError(f"height and width must be at least 1; got {height} and {width}")
        if fit not in ("stretch", "crop", "pad"):
            raise SettingError(f'fit must be "stretch", "crop" or "pad"; got "{fit}"')
        if background not in ("white", "black"):
            raise SettingError(f'background must be "white" or "black"; got "{background}"')
        if not 1 <= white <= WHITE:
            raise SettingError(f"white is a value of 16 bits, from 1 to {WHITE}; got {white}")
        brought_to = (height, width) if cut_from is None else tuple(cut_from)
        if len(brought_to) != 2 or brought_to[0] < height or brought_to[1] < width:
            raise SettingError(
                f"cut_from is height and width, no less than {height} and {width}; got {list(brought_to)}"
            )
        self.height = height
        self.width = width
        self.channels = channels
        self.fit = fit
        self.background = background
        self.cut_from = None if cut_from is None else brought_to
        self.white = white
        self._brought_to = brought_to

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of what is read."""
        return self.channels, self.height, self.width

    def read(self, path: File) -> Tensor:
        """The image in the file, or the array, as float32."""
        return read_array(path, self.shape) if is_array(path) else scaled(self.pixels(path))

    def pixels(self, file: File) -> Tensor:
        """The image in the file as uint8 (channels, height, width)."""
        made = torch.empty(self.shape, dtype=torch.uint8)
        self.read_into(file, made.numpy())
        return made

    def read_into(self, file: File, place: Pixels) -> None:
        """The image in the file, written to ``place``: uint8 (channels, height, width)."""
        try:
            with opened(file) as stream:
                decoded = pictures.decode(
                    stream,
                    height=self._brought_to[0],
                    width=self._brought_to[1],
                    channels=self.channels,
                    fit=self.fit,
                    background=self.background,
                    white=self.white,
                )
        except FileNotFoundError:
            raise DataError(f"there is no file {file}; {self._expected()}") from None
        # Pillow's decoders fail in a dozen ways on a broken file, and all mean the same to the user.
        except Exception as error:
            raise DataError(f"cannot read {file}: {pictures.reason(error)}; {self._expected()}") from error
        place[...] = self._middle(decoded).transpose(2, 0, 1)

    def refit(self, image: Pixels) -> Pixels:
        """A picture that is decoded already, (h, w, 1 or 3), as (height, width, channels)."""
        brought = pictures.refit(
            image,
            height=self._brought_to[0],
            width=self._brought_to[1],
            channels=self.channels,
            fit=self.fit,
            background=self.background,
        )
        return self._middle(brought)

    def _middle(self, image: Pixels) -> Pixels:
        """The middle of a picture in the larger size, (h, w, channels) -> (height, width, channels)."""
        top, left = (self._brought_to[0] - self.height) // 2, (self._brought_to[1] - self.width) // 2
        return image[top : top + self.height, left : left + self.width]

    def _expected(self) -> str:
        return f"expected an image or a .npy array of shape {self.shape}"


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

    def read(self, path: File) -> Tensor:
        """The vector in the file."""
        if not is_array(path):
            raise DataError(f"cannot read {path}: vectors are stored as .npy arrays of shape {self.shape}")
        return read_array(path, self.shape)


class TableReader:
    """Rows of a table (.csv, .tsv, .parquet) by the names of their columns, as (columns,) float32.

    The columns may stand in any order, and others beside them. A .npy array has them in the order given.
    """

    def __init__(self, *, columns: Sequence[str]) -> None:
        if not columns or len(set(columns)) != len(columns):
            raise SettingError(f"columns must be names that differ, one or more; got {list(columns)}")
        self.columns = tuple(columns)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one row."""
        return (len(self.columns),)

    def read(self, path: File) -> Tensor:
        """The one row of a table, or the vector of a .npy file."""
        if is_array(path):
            return read_array(path, self.shape)
        if path.suffix.lower() not in TABLES:
            raise DataError(
                f"cannot read {path}: this space reads rows of a table (.csv, .tsv, .parquet), "
                f"or .npy arrays of shape {self.shape}"
            )
        if isinstance(path, Member):
            raise DataError(f"cannot read {path}: tables are not read from archives; unpack it")
        rows = self.rows(path)
        if len(rows) != 1:
            raise DataError(
                f"{path} has {len(rows)} rows where one item was expected; give a table of one row "
                "(identify, predict and search take tables of many)"
            )
        return rows[0]

    def rows(self, path: Path) -> Tensor:
        """Every row of a table: (rows, columns)."""
        from samekind.data.tables import numbers, read_table

        return numbers(read_table(path), self.columns)


Reader = ImageReader | VectorReader | TableReader


def refitted(images: Tensor, reader: ImageReader) -> Tensor:
    """Pictures of bytes (n, 1 or 3, …) that are in memory already, in the shape the reader gives."""
    if tuple(images.shape[1:]) == reader.shape and reader.cut_from is None:
        return images
    made = torch.empty(len(images), *reader.shape, dtype=torch.uint8)
    for place, image in enumerate(images):
        pixels = reader.refit(image.permute(1, 2, 0).contiguous().numpy())
        made[place] = torch.from_numpy(pixels.transpose(2, 0, 1).copy())
    return made


def read_array(path: File, shape: tuple[int, ...]) -> Tensor:
    """A .npy file of uint8 (scaled to [0, 1]) or floats (as they are) as float32; nothing is run."""
    expected = f"expected a .npy array of shape {shape}"
    try:
        with opened(path) as stream:
            array = np.load(BytesIO(stream.read()), allow_pickle=False)
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

"""Arrays: .npy files of any shape, such as spectrograms (1, 40, 300).

Arrays of Python objects are refused, so that nothing a file holds is ever run.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from samekind.data.files import File, Readable, is_array, name_of, opened
from samekind.data.media.medium import Medium, Shape, Suited, can_be_shown, has_pixels
from samekind.decoding.arrays import as_item
from samekind.errors import DataError, SettingError
from samekind.plain_files import Array, read_npy

#: How many values are judged, at most, to tell pictures from other arrays.
MOST_JUDGED = 2**22


class ArrayReader:
    """.npy arrays of one ``shape`` (channels, height, width) as float32; uint8 is scaled to [0, 1]."""

    columns: tuple[str, ...] = ()

    def __init__(self, *, shape: Sequence[int]) -> None:
        if len(shape) != 3 or min(shape) < 1:
            raise SettingError(
                f"arrays are read as (channels, height, width), each 1 or more; got {list(shape)}"
            )
        self.shape: tuple[int, ...] = tuple(shape)

    @property
    def medium(self) -> Medium:
        return ARRAYS

    def read(self, file: Readable) -> Tensor:
        """The array in the file."""
        if not is_array(file):
            raise DataError(f"cannot read {name_of(file)}: expected a .npy array of shape {self.shape}")
        return read_array(file, self.shape)


def load_array(file: Readable, expected: str = "expected a .npy array") -> Array:
    """The one array of a .npy file."""
    name = name_of(file)
    try:
        with opened(file) as stream:
            size, is_archive = stream.seek(0, os.SEEK_END), stream.seek(0) == 0 and stream.read(2) == b"PK"
            stream.seek(0)
            if not is_archive:
                return read_npy(stream, size=size)
    except FileNotFoundError:
        raise DataError(f"there is no file {name}; {expected}") from None
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {name}: {error}; {expected}") from error
    raise DataError(f"{name} is an archive of several arrays; {expected}, or a name that ends in .npz")


def read_array(file: Readable, shape: Shape) -> Tensor:
    """A .npy file of this shape as float32: uint8 is scaled to [0, 1], floats are not changed."""
    name, shape = name_of(file), tuple(shape)
    expected = f"expected a .npy array of shape {shape}"
    array = load_array(file, expected)
    return torch.from_numpy(as_item(array, shape, name))


def as_inputs(array: Array, name: str) -> Tensor:
    """An array of items (n, …) as uint8 or float32.

    Pictures of bytes (n, height, width) get their channel, and (n, height, width, 1 or 3) have it moved to
    the front; floats are taken as they are. What is not finite is refused.
    """
    if array.dtype != np.uint8 and array.dtype.kind != "f":
        raise DataError(f"{name} must hold floats or uint8, got {array.dtype}; save it as float32")
    if array.ndim < 2:
        raise DataError(f"{name} must be (items, …), at least one vector per item; got {array.shape}")
    if array.dtype == np.uint8:
        if array.ndim == 3:
            array = array[:, None]
        elif array.ndim == 4 and array.shape[1] not in (1, 3) and array.shape[3] in (1, 3):
            array = array.transpose(0, 3, 1, 2)
        return torch.from_numpy(np.ascontiguousarray(array))
    values = array.astype(np.float32)
    if not np.isfinite(values).all():
        first = np.argwhere(~np.isfinite(values))[0].tolist()
        raise DataError(f"{name} holds values that are not finite (NaN or infinity), the first at {first}")
    return torch.from_numpy(np.ascontiguousarray(values))


def stacked_arrays(files: Sequence[File]) -> Tensor:
    """Single arrays, all of one shape and kind, as items (n, …)."""
    first = load_array(files[0])
    arrays = [first]
    for file in files[1:]:
        array = load_array(file)
        if (array.shape, array.dtype) != (first.shape, first.dtype):
            raise DataError(
                f"arrays must have one shape and type; {files[0]} has {first.shape} of {first.dtype}, "
                f"{file} has {array.shape} of {array.dtype}"
            )
        arrays.append(array)
    if first.ndim == 0:
        raise DataError(f"{files[0]} holds a single number; an item is at least a vector")
    for file, array in zip(files, arrays, strict=True):
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise DataError(f"{file} holds values that are not finite (NaN or infinity)")
    return as_inputs(np.stack(arrays), str(Path(str(files[0])).parent))


def looks_like_pictures(inputs: Tensor) -> bool:
    """Whether arrays (n, …) are pictures: 1 or 3 channels of bytes, or of floats in [0, 1].

    Floats with one channel that are far from square are not, whatever their values. Of many items a sample
    is judged.
    """
    shape = inputs.shape[1:]
    if not has_pixels(shape):
        return False
    if inputs.dtype == torch.uint8:
        return True
    if is_far_from_square(shape):
        return False
    judged = max(1, MOST_JUDGED // max(1, shape.numel()))
    sample = inputs[:: -(-len(inputs) // judged) or 1]
    if not sample.numel():
        return True
    low, high = sample.aminmax()
    return bool(low >= 0 and high <= 1)


def is_far_from_square(shape: Shape) -> bool:
    """Whether one channel is more than three times as long as it is wide, as spectrograms often are.

    >>> is_far_from_square((1, 40, 300)), is_far_from_square((1, 40, 120)), is_far_from_square((3, 40, 300))
    (True, False, False)
    """
    channels, height, width = shape
    return channels == 1 and max(height, width) > 3 * min(height, width)


def _encoder(shape: Shape) -> Suited:
    """A ResNet-18 from scratch for (channels, height, width), whose stem takes the first step at full
    resolution: what lies side by side in a spectrogram are not pixels of a photograph. Else an MLP.
    """
    if len(shape) != 3:
        return Suited("MLP", {})
    return Suited("ResNet18", {"stem": "cifar" if max(shape[1:]) <= 32 else "miniimagenet"})


ARRAYS = Medium(
    name="arrays",
    reader=lambda shape: ArrayReader(shape=shape),
    encoder=_encoder,
    units=lambda shape: "channels" if len(shape) == 3 else None,
    family=lambda shape: "images" if len(shape) == 3 else None,
    shows=can_be_shown,
)

"""NumPy arrays as items: archives (.npz) of inputs and labels, and many single arrays (.npy).

Nothing a file holds is ever run: arrays of Python objects are refused.
"""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from samekind.data.files import File, opened
from samekind.errors import DataError

Array = np.ndarray[Any, Any]


def load_array(file: File) -> Array:
    """The one array of a .npy file."""
    try:
        with opened(file) as stream:
            array = np.load(BytesIO(stream.read()), allow_pickle=False)
    except FileNotFoundError:
        raise DataError(f"there is no file {file}; expected a .npy array") from None
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"cannot read {file} as a .npy array: {error}") from error
    if not isinstance(array, np.ndarray):
        raise DataError(f"{file} is an archive of several arrays; name it .npz")
    return array


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

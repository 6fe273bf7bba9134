"""A .npy array as an item."""

import numpy as np

from samekind.errors import DataError
from samekind.plain_files import Array


def as_item(array: Array, shape: tuple[int, ...], name: str) -> Array:
    """An array of this shape as float32: uint8 is scaled to [0, 1], floats are not changed.

    Raises DataError, with the name of its file, for one of another shape or type, or with NaN in it.
    """
    expected = f"expected a .npy array of shape {shape}"
    if array.shape != shape:
        raise DataError(f"{name} does not fit: {expected}, got shape {array.shape}")
    if array.dtype != np.uint8 and array.dtype.kind != "f":
        raise DataError(f"{name} does not fit: {expected} holding floats or uint8, got {array.dtype}")
    values = array.astype(np.float32) / np.float32(255 if array.dtype == np.uint8 else 1)
    if not np.isfinite(values).all():
        raise DataError(f"{name} holds values that are not finite (NaN or infinity)")
    return values

"""Pickled lists, dictionaries, texts and arrays, read without running anything that a file says.

A pickle may name any function, to be called when it is read. Here the names that pickled NumPy arrays use
stand for classes of this file, which keep their arguments; any other name is refused.
"""

import math
import pickle
from io import BytesIO
from typing import Any

import numpy as np

from samekind.errors import DataError
from samekind.plain_files import Array


def read_pickle(content: bytes, name: str) -> Any:
    """The content of a pickle; texts that Python 2 wrote are bytes. Raises DataError, with ``name``, if it
    holds anything but lists, dictionaries, texts and arrays of bytes.
    """
    try:
        return _Plain(BytesIO(content), encoding="bytes").load()
    # A damaged file fails in as many ways as a pickle has instructions.
    except Exception as error:
        raise DataError(f"cannot read {name} as pickled lists and arrays of bytes: {error}") from error


def array_in(value: object) -> Array | None:
    """The array of bytes that a value from `read_pickle` stands for; None for other values."""
    return value.bytes() if isinstance(value, _Array) else None


class _Array:
    """A pickled array: an empty object that is given its state afterwards."""

    def __init__(self, *_: object) -> None:
        self.state: tuple[Any, ...] = ()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.state = state

    def bytes(self) -> Array | None:
        """The array, if it is one of unsigned bytes."""
        match self.state:
            case (_, tuple(shape), _Type("u1" | b"u1"), fortran, bytes(content)):
                valid = all(type(side) is int and side >= 0 for side in shape)
                if valid and math.prod(shape) == len(content):
                    order = "F" if fortran else "C"
                    return np.frombuffer(content, dtype=np.uint8).reshape(shape, order=order)  # type: ignore[call-overload, no-any-return]
        return None


class _Type:
    """The type of an array's values, by its short name."""

    __match_args__ = ("name",)

    def __init__(self, name: object, *_: object) -> None:
        self.name = name

    def __setstate__(self, _: object) -> None:
        """The order of the bytes of a number, which single bytes do not have."""


class _Latin:
    """Bytes, as Python 3 writes them for Python 2; takes no state."""

    def __new__(cls, text: str, _: str) -> bytes:  # type: ignore[misc]
        return text.encode("latin-1")

    def __setstate__(self, _: object) -> None: ...


_NAMES: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): None,
    ("numpy", "dtype"): _Type,
    ("_codecs", "encode"): _Latin,
}


class _Plain(pickle.Unpickler):
    """An unpickler that knows no names but those above."""

    def find_class(self, module: str, name: str, /) -> Any:
        """The class that stands for a name."""
        if (module, name) not in _NAMES:
            raise DataError(f"it asks for {module}.{name}, which is not run")
        return _NAMES[module, name]

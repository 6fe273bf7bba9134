"""JSON, TOML and NumPy arrays from files of anybody: checked before they are believed.

A file that is damaged, or made to do harm, ends in a ValueError with a sentence, never in another error. An
array is given memory only after its size has been compared with that of the file.
"""

import json
import math
import re
import sys
import tomllib
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

START = b"\x93NUMPY"
#: The bytes of the length of a header, by the version of the format.
LENGTH_BYTES = {1: 2, 2: 4, 3: 4}
LONGEST_HEADER = 10_000
MOST_DIMENSIONS = 32

_ENTRY = r"""\s*['"](descr|fortran_order|shape)['"]\s*:\s*(['"][^'"]*['"]|True|False|\([\d,\sL]*\))\s*"""
ENTRY = re.compile(_ENTRY)
HEADER = re.compile(rf"\{{{_ENTRY},{_ENTRY},{_ENTRY},?\s*\}}\s*")
#: Truth values, whole numbers, floats, complex numbers and texts, of either order of bytes.
NUMBERS_OR_TEXTS = re.compile(r"[<>|=]?(b1|[iufcSU]\d+)")


def read_json(content: str | bytes, *, keys_once: bool = False) -> Any:
    """The value of a JSON text (UTF-8), with ``keys_once`` no key twice in a table; else a ValueError."""
    try:
        return json.loads(content, object_pairs_hook=_table if keys_once else None)
    except RecursionError:
        raise ValueError("lists or tables are nested too deeply") from None


def _table(entries: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(entries)
    if len(table) < len(entries):
        keys = [key for key, _ in entries]
        raise ValueError(f'"{next(key for key in keys if keys.count(key) > 1)}" is there twice')
    return table


def read_toml(content: bytes) -> dict[str, Any]:
    """The tables of a TOML text (UTF-8). Raises ValueError for anything else."""
    try:
        return tomllib.loads(content.decode())
    except RecursionError:
        raise ValueError("lists or tables are nested too deeply") from None


class _Header(NamedTuple):
    dtype: np.dtype[Any]
    columns_first: bool
    shape: tuple[int, ...]
    start: int  # of the numbers, in bytes


def read_npy(stream: BinaryIO, *, size: int) -> Array:
    """The array of a .npy file of ``size`` bytes. Raises ValueError if it is not one of numbers or texts."""
    header = _read_header(stream, size)
    array = np.empty(math.prod(header.shape), dtype=header.dtype)
    room, held = array.view(np.uint8), 0
    while held < len(room):
        part = stream.read(min(2**24, len(room) - held))
        if not part:
            raise ValueError(f"it ends after {header.start + held} of {header.start + len(room)} bytes")
        room[held : held + len(part)] = np.frombuffer(part, dtype=np.uint8)
        held += len(part)
    if array.dtype.kind == "U" and array.view(array.dtype.byteorder + "u4").max(initial=0) > sys.maxunicode:
        raise ValueError("its texts hold something other than letters")
    return array.reshape(header.shape, order="F" if header.columns_first else "C")


def map_npy(path: Path) -> Array:
    """The array of a .npy file, mapped into memory; writing to it does not change the file.

    Raises ValueError as `read_npy` does, and for an array without numbers, which cannot be mapped.
    """
    with path.open("rb") as file:
        header = _read_header(file, path.stat().st_size)
    order: Any = "F" if header.columns_first else "C"
    return np.memmap(path, dtype=header.dtype, mode="c", offset=header.start, shape=header.shape, order=order)


def _read_header(stream: BinaryIO, size: int) -> _Header:
    begin = stream.read(8)
    if len(begin) < 8 or not begin.startswith(START) or begin[6] not in LENGTH_BYTES:
        raise ValueError("it is not an array as NumPy writes it (.npy)")
    width = LENGTH_BYTES[begin[6]]
    length = int.from_bytes(stream.read(width), "little")
    if length > LONGEST_HEADER:
        raise ValueError(f"its header is longer than {LONGEST_HEADER:,} bytes")
    match = HEADER.fullmatch(stream.read(length).decode("utf-8" if begin[6] == 3 else "latin1"))
    entries = dict(ENTRY.findall(match[0])) if match else {}
    if len(entries) < 3 or entries["fortran_order"][0] not in "TF" or entries["shape"][0] != "(":
        raise ValueError("its header does not say what the array is")
    shape = tuple(int(number) for number in re.findall(r"\d+", entries["shape"]))
    dtype = _dtype(entries["descr"].strip("'\""))
    start = 8 + width + length
    needed = dtype.itemsize * math.prod(shape)
    if len(shape) > MOST_DIMENSIONS or start + needed > size or max(shape, default=0) > max(size, 2**31):
        raise ValueError(f"its header asks for {needed:,} bytes, shape {shape}; the file has {size:,}")
    return _Header(dtype, entries["fortran_order"] == "True", shape, start)


def _dtype(name: str) -> np.dtype[Any]:
    try:
        dtype = np.dtype(name) if NUMBERS_OR_TEXTS.fullmatch(name) else None
    except (TypeError, ValueError, OverflowError):
        dtype = None
    if dtype is None or not dtype.itemsize:
        raise ValueError(f'it holds values of the type "{name[:40]}", not numbers or texts')
    return dtype

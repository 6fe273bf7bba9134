"""A change of an index, and its bytes in the journal."""

import json
import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from samekind.errors import SpaceError
from samekind.plain_files import read_json

LENGTH = struct.Struct("<Q")
NUMBERS = np.dtype("<f4")


class Change(NamedTuple):
    """Vectors added under ids, replacing those of the same ids; or ids removed."""

    ids: Sequence[str]
    texts: Sequence[str] = ()  # metadata, a JSON object for each id added
    vectors: Tensor | None = None  # (n, dimension), float32, on the CPU; None for a removal


def to_parts(change: Change) -> list[bytes | memoryview]:
    """A change as parts, without a copy of vectors: the length of a JSON object, the object, the vectors."""
    if change.vectors is None:
        head = json.dumps({"remove": list(change.ids)}).encode()
        return [LENGTH.pack(len(head)), head]
    head = json.dumps({"add": list(change.ids), "metadata": list(change.texts)}).encode()
    numbers = np.ascontiguousarray(change.vectors.numpy(), dtype=NUMBERS)
    # An empty array cannot be cast.
    return [LENGTH.pack(len(head)), head, numbers.data.cast("B") if numbers.size else b""]


def from_content(content: memoryview, *, dimension: int) -> Change:
    """The change of a journal entry; copies the vectors."""
    try:
        behind = LENGTH.size + LENGTH.unpack(content[: LENGTH.size])[0]
        head = read_json(bytes(content[LENGTH.size : behind]))
        if "remove" in head:
            return Change(_texts(head["remove"]))
        ids, texts = _texts(head["add"]), _texts(head["metadata"])
        if len(set(ids)) < len(ids) or len(texts) != len(ids):
            raise ValueError("an id comes twice, or has no metadata")
        numbers = np.frombuffer(content[behind:], dtype=NUMBERS).astype(np.float32)
        return Change(ids, texts, torch.from_numpy(numbers).reshape(len(ids), dimension))
    except (KeyError, TypeError, ValueError, RuntimeError, struct.error) as error:
        raise SpaceError(f"the index is damaged: its journal holds no change ({error})") from error


def _texts(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise TypeError("expected a list of texts")
    return value

"""CIFAR-10 and CIFAR-100 as their authors publish them: the "binary version", or the one for Python.

Of the first a file holds record after record: the label (of CIFAR-100 two, of which the second is the finer),
then the 1,024 reds, greens and blues of a picture of 32 x 32. Of the second a file is a pickle with the same
bytes, read without running anything in it. Krizhevsky, "Learning Multiple Layers of Features from Tiny
Images", 2009.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from samekind.data.items import Items
from samekind.data.media import PICTURES, Reader
from samekind.data.media.arrays import Array
from samekind.data.settings import DataSettings
from samekind.data.sources.format import Block, block_of
from samekind.data.sources.listing import published
from samekind.data.sources.loading import in_memory
from samekind.data.sources.plain_pickle import array_in, read_pickle
from samekind.errors import DataError

FORMAT = "a folder of CIFAR's files"

SIDE, COLOURS = 32, 3
PIXELS = COLOURS * SIDE * SIDE


class Variant(NamedTuple):
    """How a set is published: the files of its pictures, the one with the names of its classes and the words
    for them there, and for the labels, if it is a pickle; else how many labels a record has.
    """

    pictures: re.Pattern[str]
    names: str
    labels: int = 0
    words: tuple[bytes, bytes] = (b"", b"")


VARIANTS = (
    Variant(re.compile(r"(data_batch_\d+|test_batch)\.bin"), "batches.meta.txt", labels=1),
    Variant(re.compile(r"(train|test)\.bin"), "fine_label_names.txt", labels=2),
    Variant(re.compile(r"data_batch_\d+|test_batch"), "batches.meta", words=(b"label_names", b"labels")),
    Variant(re.compile(r"train|test"), "meta", words=(b"fine_label_names", b"fine_labels")),
)


def recognises(path: Path, settings: DataSettings, reader: Reader | None) -> bool:
    """A folder with files of pictures and, beside them, the names of the classes."""
    wanted = reader is None or reader.medium is PICTURES
    return wanted and path.is_dir() and _variant(path) is not None


def unlabelled(
    path: Path, reader: Reader, choices: Sequence[DataSettings], id_column: str | None
) -> Iterator[Block]:
    """The pictures, with their labels."""
    yield block_of(labelled(path, DataSettings()), reader, path)


def labelled(path: Path, settings: DataSettings) -> Items:
    """The pictures of all files in a folder, with their part and the names of their classes, which keep their
    order; for CIFAR-100 the hundred classes, not the twenty.
    """
    variant = _variant(path)
    assert variant is not None
    names = _class_names(path / variant.names, variant)
    files = _pictures(path, variant)
    read = [_records(each, variant) if variant.labels else _pickled(each, variant) for each in files]
    parts = ["test" if each.name.startswith("test") else "train" for each in files]
    labels = [
        _name(label, names, file) for file, (given, _) in zip(files, read, strict=True) for label in given
    ]
    of_each = [part for part, (given, _) in zip(parts, read, strict=True) for _ in given]
    pixels = torch.from_numpy(np.concatenate([each for _, each in read]))
    if not settings.classes:
        present = set(labels)
        settings = replace(settings, classes=tuple(name for name in names if name in present))
    return in_memory(pixels.reshape(-1, COLOURS, SIDE, SIDE), published(path.name, labels, of_each), settings)


def _variant(folder: Path) -> Variant | None:
    return next(
        (each for each in VARIANTS if (folder / each.names).is_file() and _pictures(folder, each)), None
    )


def _pictures(folder: Path, variant: Variant) -> list[Path]:
    """Those to train with first, in the order of their numbers."""
    found = [each for each in folder.iterdir() if variant.pictures.fullmatch(each.name) and each.is_file()]
    return sorted(found, key=lambda each: (each.name.startswith("test"), len(each.name), each.name))


def _records(path: Path, variant: Variant) -> tuple[list[int], Array]:
    """Labels and pixels (n, 3072) of a file of records."""
    content, length = _content(path), variant.labels + PIXELS
    if not content or len(content) % length:
        raise DataError(
            f"{path} should hold records of {length:,} bytes, {variant.labels} for the label and {PIXELS:,} "
            f"for the picture, but holds {len(content):,} bytes; it may have been cut short"
        )
    records = np.frombuffer(content, dtype=np.uint8).reshape(-1, length)
    return records[:, variant.labels - 1].tolist(), records[:, variant.labels :]


def _pickled(path: Path, variant: Variant) -> tuple[list[int], Array]:
    """The same of a pickle."""
    table = _table(path)
    labels, pixels = table.get(variant.words[1]), array_in(table.get(b"data"))
    whole = isinstance(labels, list) and all(type(each) is int for each in labels)
    if not whole or pixels is None or pixels.shape != (len(labels or ()), PIXELS):
        raise DataError(
            f"{path} does not hold what a file of CIFAR does: an array of bytes (n, {PIXELS}) called data, "
            f"and n whole numbers called {variant.words[1].decode()}"
        )
    return labels or [], pixels


def _class_names(path: Path, variant: Variant) -> list[str]:
    """One on each line, or in a list."""
    if variant.labels:
        lines = _content(path).decode("utf-8", errors="replace").splitlines()
        return [each.strip() for each in lines if each.strip()]
    names = _table(path).get(variant.words[0])
    if not isinstance(names, list) or not all(isinstance(each, str | bytes) for each in names):
        raise DataError(f"{path} has no names of classes; expected a list called {variant.words[0].decode()}")
    return [_as_bytes(each).decode("utf-8", errors="replace") for each in names]


def _name(label: int, names: Sequence[str], path: Path) -> str:
    if not 0 <= label < len(names):
        raise DataError(
            f"{path} has a picture of class {label}, but there are names for {len(names)} classes"
        )
    return names[label]


def _table(path: Path) -> dict[Any, Any]:
    """What a pickle holds by name, the names as Python 2 has them; nothing where it holds no table."""
    found: Any = read_pickle(_content(path), str(path))
    return {_as_bytes(key): value for key, value in found.items()} if isinstance(found, dict) else {}


def _as_bytes(text: Any) -> Any:
    return text.encode() if isinstance(text, str) else text


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error

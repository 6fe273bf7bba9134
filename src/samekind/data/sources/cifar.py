"""CIFAR-10 and CIFAR-100 as their authors publish them: the "binary version", or the one for Python.

A file of the binary version holds one record after another: the label (CIFAR-100 has two, the finer one
second), then the 1,024 reds, greens and blues of a picture of 32 x 32. A file of the other is a pickle with
the same bytes, read without running anything in it. Krizhevsky, "Learning Multiple Layers of Features from
Tiny Images", 2009.
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
from samekind.data.settings import DataSettings
from samekind.data.sources.format import Block, Use, block_of
from samekind.data.sources.listing import published
from samekind.data.sources.loading import in_memory
from samekind.data.sources.plain_pickle import array_in, read_pickle
from samekind.errors import DataError
from samekind.plain_files import Array

FORMAT = "a folder of CIFAR's files"

SIDE, COLOURS = 32, 3
PIXELS = COLOURS * SIDE * SIDE


class Variant(NamedTuple):
    """One way of publishing: the files of pictures, the file with the names of the classes, and either the
    number of labels in a record or, for pickles, the keys of the names and of the labels.
    """

    pictures: re.Pattern[str]
    names: str
    labels: int = 0
    keys: tuple[bytes, bytes] = (b"", b"")


VARIANTS = (
    Variant(re.compile(r"(data_batch_\d+|test_batch)\.bin"), "batches.meta.txt", labels=1),
    Variant(re.compile(r"(train|test)\.bin"), "fine_label_names.txt", labels=2),
    Variant(re.compile(r"data_batch_\d+|test_batch"), "batches.meta", keys=(b"label_names", b"labels")),
    Variant(re.compile(r"train|test"), "meta", keys=(b"fine_label_names", b"fine_labels")),
)


def recognises(path: Path, settings: DataSettings, reader: Reader | None) -> bool:
    """A folder with files of pictures and, beside them, the names of the classes."""
    wanted = reader is None or reader.medium is PICTURES
    return wanted and path.is_dir() and _variant(path) is not None


def unlabelled(path: Path, use: Use) -> Iterator[Block]:
    """The pictures, with their labels."""
    yield block_of(labelled(path, DataSettings()), use.reader, path)


def labelled(path: Path, settings: DataSettings) -> Items:
    """The pictures of all files in a folder, with their part and the names of their classes, which keep their
    order; for CIFAR-100 the hundred classes, not the twenty.
    """
    variant = _variant(path)
    assert variant is not None
    names = _class_names(path / variant.names, variant)
    files = _pictures(path, variant)
    labels: list[str] = []
    parts: list[str] = []
    contents: list[Array] = []
    for file in files:
        numbers, content = _records(file, variant) if variant.labels else _pickled(file, variant)
        labels += [_name(number, names, file) for number in numbers]
        parts += ["test" if file.name.startswith("test") else "train"] * len(numbers)
        contents.append(content)
    pixels = torch.from_numpy(np.concatenate(contents)).reshape(-1, COLOURS, SIDE, SIDE)
    if not settings.classes:
        present = set(labels)
        settings = replace(settings, classes=tuple(name for name in names if name in present))
    return in_memory(pixels, published(path.name, labels, parts), settings)


def _variant(folder: Path) -> Variant | None:
    for variant in VARIANTS:
        if (folder / variant.names).is_file() and _pictures(folder, variant):
            return variant
    return None


def _pictures(folder: Path, variant: Variant) -> list[Path]:
    """The files of pictures, those for training first, by number."""
    files = [path for path in folder.iterdir() if variant.pictures.fullmatch(path.name) and path.is_file()]
    return sorted(files, key=lambda path: (path.name.startswith("test"), len(path.name), path.name))


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
    """Labels and pixels (n, 3072) of a pickle."""
    table = _table(path)
    labels, pixels = table.get(variant.keys[1]), array_in(table.get(b"data"))
    whole = isinstance(labels, list) and all(type(label) is int for label in labels)
    if not whole or pixels is None or pixels.shape != (len(labels or ()), PIXELS):
        raise DataError(
            f"{path} does not hold what a file of CIFAR does: an array of bytes (n, {PIXELS}) called data, "
            f"and n whole numbers called {variant.keys[1].decode()}"
        )
    return labels or [], pixels


def _class_names(path: Path, variant: Variant) -> list[str]:
    """One on each line, or in a list."""
    if variant.labels:
        lines = _content(path).decode("utf-8", errors="replace").splitlines()
        return [line.strip() for line in lines if line.strip()]
    names = _table(path).get(variant.keys[0])
    if not isinstance(names, list) or not all(isinstance(name, str | bytes) for name in names):
        raise DataError(f"{path} has no names of classes; expected a list called {variant.keys[0].decode()}")
    return [_as_bytes(name).decode("utf-8", errors="replace") for name in names]


def _name(label: int, names: Sequence[str], path: Path) -> str:
    if not 0 <= label < len(names):
        raise DataError(
            f"{path} has a picture of class {label}, but there are names for {len(names)} classes"
        )
    return names[label]


def _table(path: Path) -> dict[Any, Any]:
    """The dictionary in a pickle, keys as Python 2 writes them; empty if it holds something else."""
    content: Any = read_pickle(_content(path), str(path))
    return {_as_bytes(key): value for key, value in content.items()} if isinstance(content, dict) else {}


def _as_bytes(text: Any) -> Any:
    return text.encode() if isinstance(text, str) else text


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error

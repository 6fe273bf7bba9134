"""CIFAR-10 and CIFAR-100 as their authors publish them: the "binary version", or the one for Python.

Of the first a file holds record after record: the label (of CIFAR-100 two, of which the second is the finer),
then the 1,024 reds, greens and blues of a picture of 32 x 32. Of the second a file is a pickle with the same
bytes, read without running anything in it. Krizhevsky, "Learning Multiple Layers of Features from Tiny
Images", 2009.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from samekind.data.arrays import Array
from samekind.data.items import Items
from samekind.data.loading import published
from samekind.data.plain_pickle import array_in, read_pickle
from samekind.data.settings import DataSettings
from samekind.errors import DataError

SIDE, COLOURS = 32, 3
PIXELS = COLOURS * SIDE * SIDE


class Form(NamedTuple):
    """How a set is published: the files of its pictures, the one with the names of its classes and the words
    for them there, and for the labels, if it is a pickle; else how many labels a record has.
    """

    pictures: re.Pattern[str]
    names: str
    labels: int = 0
    words: tuple[bytes, bytes] = (b"", b"")


FORMS = (
    Form(re.compile(r"(data_batch_\d+|test_batch)\.bin"), "batches.meta.txt", labels=1),
    Form(re.compile(r"(train|test)\.bin"), "fine_label_names.txt", labels=2),
    Form(re.compile(r"data_batch_\d+|test_batch"), "batches.meta", words=(b"label_names", b"labels")),
    Form(re.compile(r"train|test"), "meta", words=(b"fine_label_names", b"fine_labels")),
)


def is_cifar(folder: Path) -> bool:
    """Whether a folder holds files of CIFAR: pictures, and beside them the names of the classes."""
    return _form(folder) is not None


def cifar_items(folder: Path, settings: DataSettings) -> Items:
    """The pictures of all files in a folder, with the part they were published in and the names of their
    classes, which keep their order; of CIFAR-100 the hundred, not the twenty.
    """
    form = _form(folder)
    assert form is not None
    names = _class_names(folder / form.names, form)
    files = _pictures(folder, form)
    read = [_records(each, form) if form.labels else _pickled(each, form) for each in files]
    parts = ["test" if each.name.startswith("test") else "train" for each in files]
    labels = [
        _name(label, names, file) for file, (given, _) in zip(files, read, strict=True) for label in given
    ]
    of_each = [part for part, (given, _) in zip(parts, read, strict=True) for _ in given]
    pixels = torch.from_numpy(np.concatenate([each for _, each in read]))
    if not settings.classes:
        present = set(labels)
        settings = replace(settings, classes=tuple(name for name in names if name in present))
    return published(folder.name, pixels.reshape(-1, COLOURS, SIDE, SIDE), labels, of_each, settings)


def _form(folder: Path) -> Form | None:
    return next((each for each in FORMS if (folder / each.names).is_file() and _pictures(folder, each)), None)


def _pictures(folder: Path, form: Form) -> list[Path]:
    """Those to train with first, in the order of their numbers."""
    found = [each for each in folder.iterdir() if form.pictures.fullmatch(each.name) and each.is_file()]
    return sorted(found, key=lambda each: (each.name.startswith("test"), len(each.name), each.name))


def _records(path: Path, form: Form) -> tuple[list[int], Array]:
    """Labels and pixels (n, 3072) of a file of records."""
    content, length = _content(path), form.labels + PIXELS
    if not content or len(content) % length:
        raise DataError(
            f"{path} should hold records of {length:,} bytes, {form.labels} for the label and {PIXELS:,} for "
            f"the picture, but holds {len(content):,} bytes; it may have been cut short"
        )
    records = np.frombuffer(content, dtype=np.uint8).reshape(-1, length)
    return records[:, form.labels - 1].tolist(), records[:, form.labels :]


def _pickled(path: Path, form: Form) -> tuple[list[int], Array]:
    """The same of a pickle."""
    table = _table(path)
    labels, pixels = table.get(form.words[1]), array_in(table.get(b"data"))
    whole = isinstance(labels, list) and all(type(each) is int for each in labels)
    if not whole or pixels is None or pixels.shape != (len(labels or ()), PIXELS):
        raise DataError(
            f"{path} does not hold what a file of CIFAR does: an array of bytes (n, {PIXELS}) called data, "
            f"and n whole numbers called {form.words[1].decode()}"
        )
    return labels or [], pixels


def _class_names(path: Path, form: Form) -> list[str]:
    """One on each line, or in a list."""
    if form.labels:
        lines = _content(path).decode("utf-8", errors="replace").splitlines()
        return [each.strip() for each in lines if each.strip()]
    names = _table(path).get(form.words[0])
    if not isinstance(names, list) or not all(isinstance(each, str | bytes) for each in names):
        raise DataError(f"{path} has no names of classes; expected a list called {form.words[0].decode()}")
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

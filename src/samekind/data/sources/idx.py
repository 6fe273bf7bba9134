"""IDX files, the format of MNIST and its family: a heading of sizes, then bytes; gzipped or not.

LeCun, Cortes and Burges, "The MNIST database of handwritten digits".
"""

import gzip
import math
import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from samekind.data.files import is_hidden
from samekind.data.items import Items
from samekind.data.media import PICTURES, Reader
from samekind.data.settings import DataSettings
from samekind.data.sources.format import Block, Use, block_of, block_of_rows
from samekind.data.sources.listing import published
from samekind.data.sources.loading import in_memory
from samekind.errors import DataError

FORMAT = "IDX files"

BYTES = 8  # the type code of unsigned bytes

_IMAGES = re.compile(r"images?[-.]idx3-ubyte(\.gz)?$")
_PARTS = ("train", "t10k", "test", "val", "dev")
_LABELS = re.compile(r"labels?[-.]idx1-ubyte(\.gz)?$")


def recognises(path: Path, settings: DataSettings, reader: Reader | None) -> bool:
    """A file of images by its name, or a folder of such files."""
    if reader is not None and reader.medium is not PICTURES and path.is_dir():
        return False
    return bool(_image_files(path)) if path.is_dir() else _is_images(path)


def unlabelled(path: Path, use: Use) -> Iterator[Block]:
    """The images, with their labels if the file of labels lies beside them."""
    if path.is_dir() or _labels_of(path).is_file():
        yield block_of(labelled(path, DataSettings()), use.reader, path)
    else:
        yield block_of_rows(torch.from_numpy(read_idx(path, 3)[:, None]), use.reader, path)


def labelled(path: Path, settings: DataSettings) -> Items:
    """A file of images with the file of labels beside it, or all such pairs in a folder.

    Files for training (``train-…``) and testing (``t10k-…``, ``test-…``) in one folder make the parts of the
    items. A file that is there both packed and unpacked is read once.
    """
    files = _image_files(path) if path.is_dir() else [path]
    sets = {_set_name(file): file.name for file in files}
    if len(sets) > 1:  # as in EMNIST: 1 is a digit in one file, and a letter in another
        raise DataError(
            f"{path} holds several sets of images ({', '.join(sets.values())}); "
            "move each into a folder of its own"
        )
    files.sort(key=lambda file: _part(file) != "train")
    pairs = [_pair(file) for file in files]
    if len({images.shape[1:] for images, _ in pairs}) > 1:
        sizes = [f"{file.name} {images.shape[1:]}" for file, (images, _) in zip(files, pairs, strict=True)]
        raise DataError(f"the images of {path} have different sizes: {', '.join(sizes)}")
    images = torch.from_numpy(np.concatenate([images[:, None] for images, _ in pairs]))
    names = [str(label) for _, labels in pairs for label in labels.tolist()]
    parts = [_part(file) for file, (_, labels) in zip(files, pairs, strict=True) for _ in labels]
    ids = [
        f"{_part(file)} {n}"
        for file, (_, labels) in zip(files, pairs, strict=True)
        for n in range(len(labels))
    ]
    return in_memory(images, replace(published(path.name, names, parts), ids=ids), settings)


def read_idx(path: Path, dimensions: int) -> "np.ndarray[Any, np.dtype[np.uint8]]":
    """The bytes of an IDX file with this number of dimensions."""
    try:
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; images and labels are a pair of files") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot read {path}: {error}") from error
    if len(content) < 4 + 4 * dimensions or content[:4] != bytes([0, 0, BYTES, dimensions]):
        raise DataError(
            f"{path} is not an IDX file of bytes with {dimensions} dimensions: "
            f"it begins with {content[:4].hex() or 'nothing'}"
        )
    start = 4 + 4 * dimensions
    shape = tuple(np.frombuffer(content[4:start], dtype=">u4").tolist())
    if len(content) - start != math.prod(shape):
        raise DataError(
            f"{path} should hold {math.prod(shape):,} bytes for {shape}, but holds {len(content) - start:,}"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape).copy()


def _is_images(path: Path) -> bool:
    return bool(_IMAGES.search(path.name))


def _image_files(folder: Path) -> list[Path]:
    """The files of images in a folder, an unpacked one in place of its packed copy."""
    files: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if _is_images(path) and path.is_file() and not is_hidden(path.name):
            files.setdefault(_beginning(path), path)
    return list(files.values())


def _set_name(path: Path) -> str:
    """The name of a file without its part and number, which the files of one set have in common."""
    words = re.split(r"[-_.]+", _beginning(path).lower())
    return " ".join(word.rstrip("0123456789") for word in words if not word.startswith(_PARTS))


def _pair(path: Path) -> "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]":
    images = read_idx(path, 3)
    label_file = _labels_of(path)
    labels = read_idx(label_file, 1)
    if len(images) != len(labels):
        raise DataError(
            f"{path.name} has {len(images)} images, but {label_file.name} has {len(labels)} labels"
        )
    return images, labels


def _labels_of(path: Path) -> Path:
    """The file of labels with the same beginning, packed or not."""
    beginning = _beginning(path)
    for file in sorted(path.parent.iterdir()):
        match = _LABELS.search(file.name)
        if match and file.is_file() and file.name[: match.start()] == beginning:
            return file
    return path.with_name(f"{beginning}labels-idx1-ubyte")


def _beginning(path: Path) -> str:
    """The name of a file of images, up to the word "images"."""
    return _IMAGES.split(path.name)[0]


def _part(path: Path) -> str:
    beginning = _beginning(path).lower()
    return "test" if "t10k" in beginning or "test" in beginning else "train"

"""IDX files, the form of MNIST and its family: a heading of sizes, then bytes; gzipped or not.

LeCun, Cortes and Burges, "The MNIST database of handwritten digits".
"""

import gzip
import math
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from samekind.data.files import is_hidden
from samekind.data.items import Items
from samekind.data.listing import Listing
from samekind.data.loading import fitted, labelled
from samekind.data.settings import DataSettings
from samekind.errors import DataError

BYTES = 8  # the type code of unsigned bytes

_IMAGES = re.compile(r"images?[-.]idx3-ubyte(\.gz)?$")
_PARTS = ("train", "t10k", "test", "val", "dev")
_LABELS = re.compile(r"labels?[-.]idx1-ubyte(\.gz)?$")


def is_idx(path: Path) -> bool:
    """Whether a file is one of pictures in IDX form by its name."""
    return bool(_IMAGES.search(path.name))


def has_idx(folder: Path) -> bool:
    """Whether a folder holds pictures in IDX form."""
    return bool(_image_files(folder))


def has_labels(path: Path) -> bool:
    """Whether the file of labels lies beside a file of pictures."""
    return _labels_of(path).is_file()


def idx_items(path: Path, settings: DataSettings) -> Items:
    """A file of images with the file of labels beside it, or all such pairs in a folder.

    Of a folder with files for training (``train-…``) and for testing (``t10k-…``, ``test-…``) the items
    know which part they were published in. A file that is there packed and unpacked is read once.
    """
    files = _image_files(path) if path.is_dir() else [path]
    names = {_set_name(each): each.name for each in files}
    if len(names) > 1:  # as EMNIST is packed: 1 is a digit in one of them, and a letter in another
        raise DataError(
            f"{path} holds sets of images that are not one ({', '.join(names.values())}); "
            "move each into a folder of its own"
        )
    # Training first, as the files are always named.
    files.sort(key=lambda each: _part(each) != "train")
    pairs = [_pair(each) for each in files]
    if len({images.shape[1:] for images, _ in pairs}) > 1:
        sizes = ", ".join(
            f"{each.name} {images.shape[1:]}" for each, (images, _) in zip(files, pairs, strict=True)
        )
        raise DataError(f"the images of {path} have different sizes: {sizes}")
    inputs, reader = fitted(
        torch.from_numpy(np.concatenate([images[:, None] for images, _ in pairs])), settings
    )
    parts = [_part(each) for each, (images, _) in zip(files, pairs, strict=True) for _ in images]
    listing = Listing(
        name=path.name,
        files=(),
        labels=[str(label) for _, labels in pairs for label in labels.tolist()],
        ids=[
            f"{part} {place}"
            for part, (_, labels) in zip(map(_part, files), pairs, strict=True)
            for place in range(len(labels))
        ],
        parts=parts if len(set(parts)) > 1 else None,
    )
    return replace(labelled(inputs, listing, range(len(parts)), settings), reader=reader)


def read_idx(path: Path, dimensions: int) -> "np.ndarray[Any, np.dtype[np.uint8]]":
    """The bytes of an IDX file of so many dimensions."""
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


def _image_files(folder: Path) -> list[Path]:
    """The files of images in a folder, one for each beginning, the unpacked before the packed."""
    found: dict[str, Path] = {}
    for each in sorted(folder.iterdir()):
        if is_idx(each) and each.is_file() and not is_hidden(each.name):
            found.setdefault(each.name[: _start(each)], each)
    return list(found.values())


def _set_name(path: Path) -> str:
    """What a file is named for beside its part and number: the files of one set have it in common."""
    words = re.split(r"[-_.]+", path.name[: _start(path)].lower())
    return " ".join(word.rstrip("0123456789") for word in words if not word.startswith(_PARTS))


def _pair(path: Path) -> "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]":
    images = read_idx(path, 3)
    wanted = _labels_of(path)
    labels = read_idx(wanted, 1)
    if len(images) != len(labels):
        raise DataError(f"{path.name} has {len(images)} images, but {wanted.name} has {len(labels)} labels")
    return images, labels


def _labels_of(path: Path) -> Path:
    """The file of labels with the same beginning, packed or not."""
    begins = path.name[: _start(path)]
    for each in sorted(path.parent.iterdir()):
        found = _LABELS.search(each.name)
        if found and each.is_file() and each.name[: found.start()] == begins:
            return each
    return path.with_name(f"{begins}labels-idx1-ubyte")


def _start(path: Path) -> int:
    found = _IMAGES.search(path.name)
    if found is None:
        raise DataError(
            f"{path} is not named as a file of images in IDX form, such as train-images-idx3-ubyte"
        )
    return found.start()


def _part(path: Path) -> str:
    begins = path.name[: _start(path)].lower()
    return "test" if "t10k" in begins or "test" in begins else "train"

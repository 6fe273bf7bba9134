"""IDX files, the form of MNIST and its family: a heading of sizes, then bytes; gzipped or not.

LeCun, Cortes and Burges, "The MNIST database of handwritten digits".
"""

import gzip
import math
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from samekind.data.files import is_hidden
from samekind.data.items import Items
from samekind.data.media import PICTURES, Reader
from samekind.data.settings import DataSettings
from samekind.data.sources.format import Block, block_of, block_of_rows
from samekind.data.sources.listing import Listing
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


def unlabelled(
    path: Path, reader: Reader, choices: Sequence[DataSettings], id_column: str | None
) -> Iterator[Block]:
    """The images, with their labels if the file of labels lies beside them."""
    if path.is_dir() or _labels_of(path).is_file():
        yield block_of(labelled(path, DataSettings()), reader, path)
    else:
        yield block_of_rows(torch.from_numpy(read_idx(path, 3)[:, None]), reader, path)


def labelled(path: Path, settings: DataSettings) -> Items:
    """A file of images with the file of labels beside it, or all such pairs in a folder.

    Files for training (``train-…``) and testing (``t10k-…``, ``test-…``) in one folder make the parts of the
    items. A file that is there both packed and unpacked is read once.
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
    images = torch.from_numpy(np.concatenate([images[:, None] for images, _ in pairs]))
    parts = [_part(file) for file in files]
    ids = [
        f"{part} {place}"
        for part, (_, labels) in zip(parts, pairs, strict=True)
        for place in range(len(labels))
    ]
    listing = Listing(
        name=path.name,
        files=(),
        labels=[str(label) for _, labels in pairs for label in labels.tolist()],
        ids=ids,
        parts=[name.split()[0] for name in ids] if len(set(parts)) > 1 else None,
    )
    return in_memory(images, listing, settings)


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


def _is_images(path: Path) -> bool:
    return bool(_IMAGES.search(path.name))


def _image_files(folder: Path) -> list[Path]:
    """The files of images in a folder, one for each beginning, the unpacked before the packed."""
    found: dict[str, Path] = {}
    for each in sorted(folder.iterdir()):
        if _is_images(each) and each.is_file() and not is_hidden(each.name):
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

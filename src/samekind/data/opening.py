"""The door to data: a name, a folder or a file to items."""

import os
from dataclasses import replace
from pathlib import Path

from samekind.data.cifar import cifar_items, is_cifar
from samekind.data.digits import digits
from samekind.data.files import PICTURES, is_array
from samekind.data.folders import list_archive, list_folder
from samekind.data.idx import has_idx, idx_items, is_idx
from samekind.data.items import Items, Source
from samekind.data.listing import Listing
from samekind.data.loading import load, picture_reader
from samekind.data.npz import npz_items
from samekind.data.settings import DataSettings, or_usual
from samekind.data.sprites import is_sprites, sprite_items
from samekind.data.stored import Stored
from samekind.data.table_items import list_manifest, table_items
from samekind.data.tables import column_names, is_table, read_table
from samekind.errors import DataError, expect, nearest

NAMED = {"digits": digits}
KNOWN = (
    "a folder or .zip of class folders, a table or manifest (.csv, .tsv, .parquet), "
    "arrays (.npz), IDX files, a folder of CIFAR's files or of sprites"
)


def open_data(source: str | Path, *, settings: DataSettings | None = None) -> Items:
    """The items of a source, which is one of

    - a name: ``digits``;
    - a folder, or a .zip file, with a folder of pictures (or .npy arrays) for each class; nested folders are
      named by their path, ``birds/owl``;
    - a .csv, .tsv or .parquet file: a manifest where it has a column of paths, else a table of numbers;
    - a .npz file with the arrays ``inputs`` and ``labels``;
    - a file of images in IDX form with its labels beside it, or a folder of such pairs;
    - a folder of CIFAR-10 or CIFAR-100 as published, the binary version (.bin) or the one for Python;
    - a folder of sprites (CIFAR-10 as browsers get it).

    >>> len(open_data("digits"))
    1797
    """
    settings = or_usual(settings)
    expect_source(source)
    if source in NAMED:
        return replace(NAMED[str(source)](), source=Source(str(source), settings))
    path = os.path.abspath(source)  # noqa: PTH100 (links stay as they are)
    return replace(_open_path(source, settings), source=Source(path, settings))


def _open_path(source: str | Path, settings: DataSettings) -> Items:
    """The items of a file or folder."""
    listing = files_of(source, settings)
    if listing is not None:
        return load(listing, settings)
    path = Path(source)
    if path.is_dir():
        if is_cifar(path):
            return cifar_items(path, settings)
        return idx_items(path, settings) if has_idx(path) else sprite_items(path, settings)
    if is_table(path):
        return table_items(read_table(path), settings)
    return idx_items(path, settings) if is_idx(path) else npz_items(path, settings)


def expect_source(source: object) -> None:
    """Refuse what is neither a name nor a path."""
    expect(source, (str, os.PathLike), f"a name or a path of data: {KNOWN}")


def files_of(source: str | Path, settings: DataSettings) -> Listing | None:
    """The files of a source that consists of files, one for each item; None where it does not.

    A source that there is not, or that is none, is refused.
    """
    path = Path(source)
    if path.is_dir():
        return None if has_idx(path) or is_cifar(path) or is_sprites(path) else list_folder(path)
    if not path.exists():
        bare = len(path.parts) == 1 and not path.suffix
        raise DataError(
            f'there is no data "{source}", nor a file or folder of that name; {nearest(str(source), NAMED)}'
            if bare
            else f"there is no file or folder {source}; expected {KNOWN}"
        )
    suffix = path.suffix.lower()
    if suffix == ".zip":
        return list_archive(path)
    if is_table(path):
        if settings.path not in column_names(path):
            return None
        return list_manifest(read_table(path), path.parent, settings)
    if suffix == ".npz" or is_idx(path):
        return None
    if suffix in PICTURES:
        raise DataError(f"{source} is a single picture; expected {KNOWN}")
    if suffix == ".npy":
        raise DataError(f"{source} is an array without labels; save inputs and labels with numpy.savez")
    raise DataError(f"cannot tell what {source} is; expected {KNOWN}")


def memory_needed(source: str | Path, *, settings: DataSettings | None = None) -> int:
    """The bytes that the items of a source take once they are decoded, known before they are.

    Only the beginning of each picture is read, and not even that where size and channels are given. Tables
    and arrays are always in memory, and opened to be counted.
    """
    settings = or_usual(settings)
    listing = None if source in NAMED else files_of(source, settings)
    if listing is None or not listing.files or any(is_array(file) for file in listing.files):
        inputs = open_data(source, settings=settings).inputs
        return inputs.nbytes
    reader, kept, _ = picture_reader(listing.files, settings)
    return Stored([listing.files[place] for place in kept], reader).nbytes

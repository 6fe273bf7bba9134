"""Unlabelled use: whatever files are named, read the way a space was trained."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data.arrays import as_inputs, load_array
from samekind.data.cifar import cifar_items, is_cifar
from samekind.data.files import PICTURES, Archive, File, Member, is_array, is_hidden
from samekind.data.folders import class_of, walk, wrapping
from samekind.data.idx import has_idx, has_labels, idx_items, is_idx, read_idx
from samekind.data.items import Items
from samekind.data.loading import readable_pictures
from samekind.data.npz import npz_labels, npz_texts, read_npz
from samekind.data.opening import NAMED
from samekind.data.readers import ImageReader, Reader, TableReader, refitted
from samekind.data.scaling import scaled
from samekind.data.settings import DataSettings, or_usual
from samekind.data.sprites import is_sprites, sprite_items
from samekind.data.stored import Stored, unreadable_files
from samekind.data.table_items import feature_columns
from samekind.data.tables import Table, column_names, is_table, numbers, read_table, texts, texts_or_none
from samekind.errors import DataError, SettingError


class Collection(NamedTuple):
    """Items for which no class is asked.

    ``ids`` says what each is, by path or row; ``labels`` its class where there is one (its folder, or a
    label column), else None; ``skipped`` is (path, reason) of what could not be read. ``groups`` names those
    that belong together, where a table or an archive says so of all of them.
    """

    inputs: Tensor | Stored
    ids: tuple[str, ...]
    labels: tuple[str | None, ...]
    skipped: tuple[tuple[str, str], ...]
    groups: tuple[str, ...] | None = None


class _Block(NamedTuple):
    """Items from one place: files that are still to be read, or rows that have been."""

    content: list[File] | Tensor
    ids: list[str]
    labels: list[str | None]
    groups: Sequence[str | None] | None = None


def collect(
    sources: Sequence[str | Path],
    reader: Reader,
    *,
    skip_unreadable: bool = False,
    settings: DataSettings | None = None,
    otherwise: DataSettings | None = None,
    named_by: str | None = None,
) -> Collection:
    """Everything the sources name, in their order, read with one reader.

    A source is a file, a folder (with all that lies below it), a .zip archive, a table or manifest (.csv,
    .tsv, .parquet), an array of one or many items (.npy, .npz), a file of images in IDX form, or a folder of
    such files, of CIFAR's or of sprites, or a name that `open_data` knows, such as ``digits``, where there is
    no file or folder called so. ``settings`` name the columns of tables, and say when pictures stay on the
    disk; a table that has not their column of labels, or of paths, is asked for that of ``otherwise``, if
    they are given. ``named_by`` is the column of tables of numbers whose texts are the ids of their rows, in
    place of file and number.
    Files that cannot be read are all named in one error, or skipped and returned with their reasons.
    """
    settings = or_usual(settings)
    columns = (settings,) if otherwise is None else (settings, otherwise)
    if named_by is not None and isinstance(reader, ImageReader):
        raise SettingError(
            f'the column "{named_by}" cannot name pictures, which are told by their paths; leave out --id'
        )
    blocks = [block for source in sources for block in _blocks(Path(source), reader, columns, named_by)]
    if not sum(len(block.ids) for block in blocks):
        named = ", ".join(str(each) for each in sources) or "no source at all"
        raise DataError(f"there is nothing to read in {named}; expected items of shape {reader.shape}")
    files = [file for block in blocks if isinstance(block.content, list) for file in block.content]
    pictures = isinstance(reader, ImageReader) and not any(is_array(file) for file in files)
    if pictures and len(files) == sum(len(block.ids) for block in blocks):
        inputs, kept, unreadable = readable_pictures(files, reader, settings)  # type: ignore[arg-type]
    else:
        inputs, kept, unreadable = _numbers(blocks, reader)
    if unreadable and (not skip_unreadable or not kept):
        raise unreadable_files(unreadable, len(kept) + len(unreadable))
    ids = [each for block in blocks for each in block.ids]
    labels = [each for block in blocks for each in block.labels]
    return Collection(
        inputs=inputs,
        ids=tuple(ids[place] for place in kept),
        labels=tuple(labels[place] for place in kept),
        skipped=tuple(unreadable),
        groups=_groups(blocks, kept),
    )


def _groups(blocks: Sequence[_Block], kept: Sequence[int]) -> tuple[str, ...] | None:
    """The group of each item, where all have one; a name is the same group wherever it stands."""
    named = [each for block in blocks for each in block.groups or [None] * len(block.ids)]
    found = tuple(name for place in kept if (name := named[place]) is not None)
    return found if len(found) == len(kept) else None


def _blocks(
    path: Path, reader: Reader, columns: Sequence[DataSettings], named_by: str | None
) -> Iterator[_Block]:
    suffix = path.suffix.lower()
    if str(path) in NAMED and not path.exists():
        yield _published(NAMED[str(path)](), reader, path)
    elif path.is_dir():
        if isinstance(reader, ImageReader) and has_idx(path):
            yield _published(idx_items(path, DataSettings()), reader, path)
        elif isinstance(reader, ImageReader) and is_sprites(path):
            yield _published(sprite_items(path, DataSettings()), reader, path)
        elif isinstance(reader, ImageReader) and is_cifar(path):
            yield _published(cifar_items(path, DataSettings()), reader, path)
        else:
            yield from _below(path, reader, columns, named_by)
    elif suffix == ".zip":
        archive = Archive(path)
        names = [name for name in sorted(archive.members()) if not is_hidden(name) and _wanted(name, reader)]
        members: list[File] = [Member(archive, name) for name in names]
        cut = wrapping(names)
        labels = [class_of(name[cut:]) or None for name in names]
        yield _Block(members, [str(each) for each in members], labels)
    elif is_table(path) and not (isinstance(reader, ImageReader) and not path.exists()):
        yield _table(path, reader, columns, named_by)
    elif suffix == ".npy" and path.is_file():
        yield _array(path, reader)
    elif suffix == ".npz":
        yield _archive(path, reader)
    elif is_idx(path) and has_labels(path):
        yield _published(idx_items(path, DataSettings()), reader, path)
    elif is_idx(path):
        rows = _shaped(torch.from_numpy(read_idx(path, 3)[:, None]), reader, path)
        yield _Block(rows, [f"{path}, item {place}" for place in range(len(rows))], [None] * len(rows))
    else:
        yield _Block([path], [str(path)], [None])


def _published(items: Items, reader: Reader, path: Path) -> _Block:
    """The pictures of a data set that has its own form, with their labels."""
    rows = _shaped(items.inputs[:], reader, path)
    ids = items.ids or tuple(f"item {place}" for place in range(len(rows)))
    labels: list[str | None] = [items.classes[label] for label in items.labels.tolist()]
    groups = None if items.groups is None else [str(each) for each in items.groups.tolist()]
    return _Block(rows, [f"{path}, {each}" for each in ids], labels, groups)


def _below(
    root: Path, reader: Reader, columns: Sequence[DataSettings], named_by: str | None
) -> Iterator[_Block]:
    names = [name for name in walk(root)[0] if _wanted(name, reader)]
    if isinstance(reader, TableReader):
        for name in names:
            yield from _blocks(root / name, reader, columns, named_by)
        return
    files: list[File] = [root / name for name in names]
    yield _Block(files, [str(each) for each in files], [class_of(name) or None for name in names])


def _wanted(name: str, reader: Reader) -> bool:
    """Whether a file found in a folder is of the kind the reader reads."""
    path = Path(name)
    if isinstance(reader, ImageReader):
        return path.suffix.lower() in PICTURES | {".npy"}
    return path.suffix.lower() == ".npy" or (isinstance(reader, TableReader) and is_table(path))


def _table(path: Path, reader: Reader, columns: Sequence[DataSettings], named_by: str | None) -> _Block:
    table = read_table(path)
    settings = _columns_there(table, columns)
    labels: list[str | None] = [None] * table.rows
    if settings.label in table.columns:
        labels = texts_or_none(table, settings.label)
    groups = texts_or_none(table, settings.group) if settings.group in table.columns else None
    if isinstance(reader, ImageReader):
        if settings.path not in column_names(path):
            raise DataError(
                f"{path} is a table, but this space reads pictures; "
                f'expected a column "{settings.path}" of files'
            )
        paths = [path.parent / each for each in texts(table, settings.path)]
        return _Block(list(paths), [str(each) for each in paths], labels, groups)
    if isinstance(reader, TableReader):
        rows = numbers(table, reader.columns)
    else:
        features = [name for name in feature_columns(table, settings) if name != named_by]
        if len(features) != reader.dimension:
            raise DataError(
                f"{path} has {len(features)} columns of features, but this space reads {reader.dimension}: "
                f"{', '.join(features)}"
            )
        rows = numbers(table, features)
    ids = [f"{path}, row {row + 1}" for row in range(table.rows)]
    return _Block(rows, ids if named_by is None else texts(table, named_by), labels, groups)


def _columns_there(table: Table, columns: Sequence[DataSettings]) -> DataSettings:
    """The first settings, with the first columns of labels, paths and groups that there are, if any."""
    found = {
        name: next((each for each in map(attrgetter(name), columns) if each in table.columns), None)
        for name in ("label", "path", "group")
    }
    return replace(columns[0], **{name: each for name, each in found.items() if each is not None})


def _array(path: Path, reader: Reader) -> _Block:
    array = load_array(path)
    if array.ndim != len(reader.shape) + 1:
        return _Block([path], [str(path)], [None])
    rows = _shaped(as_inputs(array, str(path)), reader, path)
    return _Block(rows, [f"{path}, item {place}" for place in range(len(rows))], [None] * len(rows))


def _archive(path: Path, reader: Reader) -> _Block:
    arrays = read_npz(path)
    if "inputs" not in arrays:
        raise DataError(f'{path} has no array "inputs"; it has {", ".join(arrays) or "none"}')
    rows = _shaped(as_inputs(arrays["inputs"], f"inputs of {path}"), reader, path)
    labels: list[str | None] = [None] * len(rows)
    if "labels" in arrays:
        labels = list(npz_labels(arrays, len(rows), path))
    groups = npz_texts(arrays["groups"], f"groups of {path}", len(rows)) if "groups" in arrays else None
    return _Block(rows, [f"{path}, item {place}" for place in range(len(rows))], labels, groups)


def _shaped(rows: Tensor, reader: Reader, path: Path) -> Tensor:
    """Items in the reader's shape; pictures of bytes are brought to it, all else must have it."""
    if isinstance(reader, ImageReader) and rows.dtype == torch.uint8 and rows.dim() == 4:
        return refitted(rows, reader)
    if tuple(rows.shape[1:]) != reader.shape:
        raise DataError(f"{path} holds items of shape {tuple(rows.shape[1:])}; expected {reader.shape}")
    return rows


def _numbers(blocks: Sequence[_Block], reader: Reader) -> tuple[Tensor, list[int], list[tuple[str, str]]]:
    """Everything as float32 (n, …), the places of what could be read, and (file, why not) of the rest."""
    rows: list[Tensor] = []
    kept: list[int] = []
    unreadable: list[tuple[str, str]] = []
    place = 0
    for block in blocks:
        if isinstance(block.content, Tensor):
            rows.append(scaled(block.content))
            kept += range(place, place + len(block.ids))
        else:
            for offset, file in enumerate(block.content):
                try:
                    rows.append(reader.read(file)[None])
                    kept.append(place + offset)
                except DataError as error:
                    unreadable.append((str(file), str(error)))
        place += len(block.ids)
    return torch.cat(rows) if rows else torch.empty(0, *reader.shape), kept, unreadable

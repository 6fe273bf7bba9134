"""Unlabelled use: files, folders and tables, read the way a space was trained."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data.files import File, Upload
from samekind.data.media import VECTORS, Reader, scaled
from samekind.data.settings import DataSettings, or_usual
from samekind.data.sources import format_of, unlabelled_upload
from samekind.data.sources.format import Block, Use
from samekind.data.sources.loading import readable_files
from samekind.data.sources.table_files import columns_of
from samekind.data.stored import Stored, unreadable_files
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

    A source is whatever `open_data` opens, a single file, or an array of many items (.npy). ``settings`` name
    the columns of tables, and say when pictures stay on the disk. If a table does not have their column of
    labels, paths or groups, that of ``otherwise`` counts. ``named_by`` is the column of tables of numbers
    whose texts are the ids of the rows, in place of file and number.
    Files that cannot be read are all named in one error, or skipped and returned with their reasons.
    """
    settings = or_usual(settings)
    choices = (settings,) if otherwise is None else (settings, otherwise)
    if named_by is not None and reader.medium is not VECTORS:
        raise SettingError(
            f'the column "{named_by}" cannot name {reader.medium.name}, whose ids are their paths; '
            "leave out --id"
        )
    blocks = [block for source in sources for block in _blocks(source, reader, choices, named_by)]
    return _collection(blocks, [], map(str, sources), reader, settings, skip_unreadable)


def files_of(
    sources: Sequence[str | Path],
    reader: Reader,
    *,
    settings: DataSettings | None = None,
    otherwise: DataSettings | None = None,
) -> dict[str, File]:
    """The files that the sources name, by their ids, in their order; nothing is decoded. ``settings`` and
    ``otherwise`` as in `collect`. Raises DataError where there is none, or for items that are not files.
    """
    settings = or_usual(settings)
    choices = (settings,) if otherwise is None else (settings, otherwise)
    files: dict[str, File] = {}
    for source in sources:
        for block in _blocks(source, reader, choices, None):
            if isinstance(block.content, Tensor):
                raise DataError(f"{source} holds numbers; expected files of {reader.medium.name}")
            files |= zip(block.ids, block.content, strict=True)
    if not files:
        raise DataError(f"there is nothing to read in {', '.join(map(str, sources)) or 'no source at all'}")
    return files


def collect_bytes(
    uploads: Sequence[tuple[str, bytes]],
    reader: Reader,
    *,
    skip_unreadable: bool = False,
    settings: DataSettings | None = None,
) -> Collection:
    """The content of files in memory, (name, bytes) each, in their order, read with one reader.

    A table has an item in each row, and a .npy array may hold many; any other file is one item. The ids are
    the names, as `collect` has them. Files that cannot be read are all named in one error, or skipped and
    returned with their reasons.
    """
    settings = or_usual(settings)
    blocks: list[Block] = []
    unreadable: list[tuple[str, str]] = []
    for name, content in uploads:
        try:
            blocks += unlabelled_upload(Upload(name, content), Use(reader, (settings,)))
        except DataError as error:
            unreadable.append((name, str(error)))
    return _collection(blocks, unreadable, (name for name, _ in uploads), reader, settings, skip_unreadable)


def _collection(
    blocks: Sequence[Block],
    unreadable: list[tuple[str, str]],
    sources: Iterable[str],
    reader: Reader,
    settings: DataSettings,
    skip_unreadable: bool,
) -> Collection:
    """The items of all blocks; ``unreadable`` is (file, reason) of what gave no block."""
    ids = [name for block in blocks for name in block.ids]
    if not ids and not unreadable:
        names, medium = ", ".join(sources) or "no source at all", reader.medium
        # Sounds are of any length: the shape of the longest says nothing to anybody.
        wanted = medium.name if medium.padded else f"items of shape {reader.shape}"
        raise DataError(f"there is nothing to read in {names}; expected {wanted}")
    inputs, readable, undecodable = _read(blocks, reader, settings)
    unreadable = [*unreadable, *undecodable]
    if unreadable and (not skip_unreadable or not readable):
        raise unreadable_files(unreadable, len(readable) + len(unreadable))
    labels = [label for block in blocks for label in block.labels]
    return Collection(
        inputs=inputs,
        ids=tuple(ids[place] for place in readable),
        labels=tuple(labels[place] for place in readable),
        skipped=tuple(unreadable),
        groups=_groups(blocks, readable),
    )


def _blocks(
    source: str | Path, reader: Reader, choices: Sequence[DataSettings], named_by: str | None
) -> Iterator[Block]:
    path = Path(source)
    format = format_of(path, columns_of(path, choices), reader)
    return format.unlabelled(path, Use(reader, choices, named_by))


def _groups(blocks: Sequence[Block], readable: Sequence[int]) -> tuple[str, ...] | None:
    """The group of each item, if all have one; a name is the same group in all sources."""
    names = [name for block in blocks for name in block.groups or [None] * len(block.ids)]
    groups = tuple(name for place in readable if (name := names[place]) is not None)
    return groups if len(groups) == len(readable) else None


def _read(
    blocks: Sequence[Block], reader: Reader, settings: DataSettings
) -> tuple[Tensor | Stored, list[int], list[tuple[str, str]]]:
    """Pictures and sounds as the settings say, or else everything in memory; as `_numbers`."""
    files = [file for block in blocks if isinstance(block.content, list) for file in block.content]
    pictures = reader.medium.decoder(reader, files)
    if pictures is not None and len(files) == sum(len(block.ids) for block in blocks):
        return readable_files(files, pictures, settings)
    return _numbers(blocks, reader)


def _numbers(blocks: Sequence[Block], reader: Reader) -> tuple[Tensor, list[int], list[tuple[str, str]]]:
    """Everything as float32 (n, …), the places of what could be read, and (file, reason) of the rest."""
    batches = [torch.empty(0, *reader.shape)]
    readable: list[int] = []
    unreadable: list[tuple[str, str]] = []
    start = 0
    for block in blocks:
        if isinstance(block.content, Tensor):
            batches.append(scaled(block.content))
            readable += range(start, start + len(block.ids))
        else:
            items = []
            for place, file in enumerate(block.content, start):
                try:
                    items.append(reader.read(file))
                    readable.append(place)
                except DataError as error:
                    unreadable.append((str(file), str(error)))
            batches += [reader.medium.batch(items)] if items else []
        start += len(block.ids)
    return torch.cat(batches), readable, unreadable

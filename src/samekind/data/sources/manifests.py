"""A list of files with their labels: a table (.csv, .tsv, .parquet) with a column of paths."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from samekind.data.files import File, exists
from samekind.data.media import Reader
from samekind.data.settings import DataSettings
from samekind.data.sources.format import Block, Use
from samekind.data.sources.listing import Listing
from samekind.data.sources.table_files import (
    Table,
    column_names,
    columns_of,
    domains_parts_and_groups,
    is_table,
    label_column,
    labels_and_groups,
    read_table,
    texts,
)
from samekind.data.words import listed
from samekind.errors import MOST_LISTED, DataError

FORMAT = "a list of files with their labels (.csv, .tsv, .parquet)"


def recognises(path: Path, settings: DataSettings, reader: Reader | None) -> bool:
    """Any table with the column of paths, unless the reader takes its columns by their names."""
    if not is_table(path) or not path.is_file() or (reader is not None and reader.columns):
        return False
    return settings.path in column_names(path)


def labelled(path: Path, settings: DataSettings) -> Listing:
    """The files, by paths from the folder of the list (or absolute ones)."""
    return list_manifest(read_table(path), path.parent, settings)


def unlabelled(path: Path, use: Use) -> Iterator[Block]:
    """The files, with the label and group columns if there are any."""
    settings = columns_of(path, use.choices)
    table = read_table(path)
    files: list[File] = [path.parent / name for name in texts(table, settings.path)]
    yield Block(files, [str(file) for file in files], *labels_and_groups(table, settings))


def list_manifest(table: Table, root: Path, settings: DataSettings) -> Listing:
    """The files that a table names, by paths from ``root``."""
    paths, labels = texts(table, settings.path), label_column(table, settings)
    first, name = paths[0], table.name
    if "\\" in first and not exists(root / first) and exists(root / first.replace("\\", "/")):
        raise DataError(f"{name}: the paths have backslashes ({first}), as on Windows; write them with /")
    known = domains_parts_and_groups(table, settings)
    rows = _without_repetition(name, paths, [labels, *known])
    domains, parts, groups = (values and [values[row] for row in rows] for values in known)
    return Listing(
        name=name,
        files=[root / paths[row] for row in rows],
        labels=[labels[row] for row in rows],
        ids=[paths[row] for row in rows],
        domains=domains,
        parts=parts,
        groups=groups,
        repeated=sorted({paths[row] for row in set(range(len(paths))) - set(rows)}),
    )


def _without_repetition(name: str, paths: Sequence[str], beside: Sequence[Sequence[str] | None]) -> list[int]:
    """The first row of every path, however it is spelt. Raises DataError if a later row contradicts it."""
    first: dict[Path, int] = {}
    contradictions: list[str] = []
    for row, path in enumerate(paths):
        before = first.setdefault(Path(path), row)  # "./a.png" is "a.png"
        contradictions += [
            f'{path} is "{values[before]}" in row {before + 1} and "{values[row]}" in row {row + 1}'
            for values in beside
            if values is not None and values[before] != values[row]
        ]
    if contradictions:
        raise DataError(f"{name} names a file twice: {listed(contradictions, MOST_LISTED, '; ')}")
    return list(first.values())

"""A table of numbers (.csv, .tsv, .parquet): each row is an item, and a column has the labels."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from shlex import quote

from samekind.data.files import File
from samekind.data.items import Items
from samekind.data.media import VECTORS, WITH_FILES, Reader, TableReader
from samekind.data.media.vectors import rows_of
from samekind.data.settings import DataSettings
from samekind.data.sources.format import Block, Use
from samekind.data.sources.listing import Listing
from samekind.data.sources.loading import labelled as labelled_items
from samekind.data.sources.table_files import (
    Table,
    check_column,
    columns_of,
    domains_parts_and_groups,
    is_table,
    label_column,
    labels_and_groups,
    numbers,
    read_table,
    texts,
)
from samekind.errors import DataError

FORMAT = "a table of numbers (.csv, .tsv, .parquet)"


def recognises(path: Path, settings: DataSettings, reader: Reader | None) -> bool:
    """Any table that is not a manifest."""
    return is_table(path) and (reader is None or reader.medium is VECTORS or path.exists())


def labelled(path: Path, settings: DataSettings) -> Items:
    """One item for each row: the features are numbers, the class is in the label column."""
    return table_items(read_table(path), settings)


def table_items(table: Table, settings: DataSettings) -> Items:
    """The items of a table that has been read."""
    columns = feature_columns(table, settings)
    labels, ids = label_column(table, settings), [f"row {row + 1}" for row in range(table.rows)]
    _expect_no_files(table, columns)
    listing = Listing(table.name, (), labels, ids, *domains_parts_and_groups(table, settings))
    items = labelled_items(numbers(table, columns), listing, settings)
    return replace(items, reader=TableReader(columns=columns))


def unlabelled(path: File, use: Use) -> Iterator[Block]:
    """The rows, with the label and group columns if there are any."""
    settings = columns_of(path, use.choices)
    if use.reader.medium is not VECTORS:
        raise DataError(
            f"{path} is a table, but this space reads {use.reader.medium.name}; "
            f'expected a column "{settings.path}" of files'
        )
    table = read_table(path)
    features = [] if use.reader.columns else feature_columns(table, settings)
    rows = rows_of(table, [name for name in features if name != use.id_column], use.reader)
    ids = [f"{path}, row {row + 1}" for row in range(table.rows)]
    ids = ids if use.id_column is None else texts(table, use.id_column)
    yield Block(rows, ids, *labels_and_groups(table, settings))


def _expect_no_files(table: Table, columns: Sequence[str]) -> None:
    """Raise DataError for a list of pictures whose column of paths has another name."""
    for name in columns:
        first = table.columns[name][0]
        if isinstance(first, str) and any(m.takes(PurePath(first.strip()).suffix) for m in WITH_FILES):
            raise DataError(
                f'{table.name}: the column "{name}" names files ("{first}" in row 1); if they are the items, '
                f"say so with --path {quote(name)} (path in a run file or in DataSettings), else leave it "
                "out with ignore"
            )


def feature_columns(table: Table, settings: DataSettings) -> list[str]:
    """The columns that are features: those named or, if none is, all that have no other meaning."""
    for name in (*settings.columns, *settings.ignore):
        check_column(table, name)
    not_features = {settings.label, settings.domain, settings.part, settings.group, *settings.ignore}
    if settings.label in settings.columns:
        raise DataError(f'the label column "{settings.label}" cannot be a feature as well')
    columns = list(settings.columns) or [name for name in table.columns if name not in not_features]
    if not columns:
        raise DataError(f"{table.name} has no column of features beside {', '.join(table.columns)}")
    return columns

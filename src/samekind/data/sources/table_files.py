"""Reading of .csv, .tsv and .parquet files.

A cell that is not a number is named by row and column: a guess would end up in the distances.
"""

import csv
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import TextIOWrapper
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
import torch
from torch import Tensor

from samekind.data.files import TABLES, File, Readable, name_of, opened
from samekind.data.settings import DataSettings
from samekind.data.words import listed
from samekind.errors import MOST_LISTED, DataError, SettingError, nearest

Texts = list[str] | None
Column = list[str] | list[str | None] | np.ndarray[Any, Any]

#: How people write that a number is missing.
MISSING = frozenset({"", "?", "-", "na", "n/a", "nan", "null", "none", "nil", "missing"})

#: Letters of a cell that a message repeats: a column may hold whole articles.
MOST_LETTERS = 40


class Table(NamedTuple):
    """Named columns of one length: texts from a .csv file, numbers or texts from .parquet."""

    name: str
    columns: dict[str, Column]
    rows: int


def is_table(path: File) -> bool:
    """Whether a file is a table by its name."""
    return path.suffix.lower() in TABLES


def _ending(file: Readable) -> str:
    """The ending of a table's name; bytes without a name are Parquet if they begin so, else text."""
    if isinstance(file, bytes):
        return ".parquet" if file.startswith(b"PAR1") else ".csv"
    return file.suffix.lower()


def read_table(file: Readable) -> Table:
    """The whole table. A first column without a name, as data frames write their index, is left out, and so
    are columns without a name that are empty, as spreadsheets write them.
    """
    name = name_of(file)
    if isinstance(file, Path) and not file.is_file():
        raise DataError(f"there is no file {name}; expected a table (.csv, .tsv or .parquet)")
    columns = _parquet(file) if _ending(file) == ".parquet" else _csv(file)
    columns = {name: values for name, values in columns.items() if name not in ("", "__index_level_0__")}
    if not columns:
        raise DataError(f"{name} has no named column; expected a heading with the names of the columns")
    rows = len(next(iter(columns.values())))
    if not rows:
        raise DataError(f"{name} has a heading but no rows")
    return Table(name=Path(name).name, columns=columns, rows=rows)


def column_names(file: Readable) -> list[str]:
    """The names in the heading of a table; the rows are not read."""
    if _ending(file) == ".parquet":
        return list(_parquet_file(file).schema_arrow.names)
    try:
        with _text(file) as text:
            return [name.strip() for name in next(_rows(text, _ending(file)), [])]
    except (OSError, ValueError, csv.Error):
        return []  # the error comes when the table is read


def numbers(table: Table, columns: Sequence[str]) -> Tensor:
    """The named columns as (rows, columns) float32; raises DataError that names missing values."""
    values = np.empty((table.rows, len(columns)), dtype=np.float32)
    missing: list[str] = []
    for place, name in enumerate(columns):
        check_column(table, name)
        column = _as_numbers(table, name)
        missing += [f'row {row + 1}, column "{name}"' for row in np.flatnonzero(np.isnan(column)).tolist()]
        with np.errstate(over="ignore"):  # too large for single precision: see below
            values[:, place] = column
    if missing:
        raise DataError(
            f"{table.name} has {len(missing)} missing values: {listed(missing, MOST_LISTED, '; ')}. "
            "Fill them in, drop the rows, or leave the columns out with ignore"
        )
    infinite = np.argwhere(~np.isfinite(values))
    if len(infinite):
        row, place = infinite[0].tolist()
        raise DataError(
            f'{table.name}: row {row + 1}, column "{columns[place]}" is not a finite number '
            "of single precision"
        )
    return torch.from_numpy(values)


def texts(table: Table, column: str) -> list[str]:
    """A column as texts, whole numbers without a decimal point. Raises DataError that names empty cells."""
    cells = texts_or_none(table, column)
    empty = [str(row) for row, cell in enumerate(cells, start=1) if cell is None]
    if empty:
        raise DataError(f'{table.name}: the column "{column}" is empty in row {listed(empty, MOST_LISTED)}')
    return [cell for cell in cells if cell is not None]


def texts_or_none(table: Table, column: str) -> list[str | None]:
    """A column as `texts` has it, but None where a cell is empty."""
    check_column(table, column)
    values = table.columns[column]
    cells = [_as_text(cell) for cell in (values.tolist() if isinstance(values, np.ndarray) else values)]
    return [None if cell is None or not cell.strip() else cell for cell in cells]


def label_column(table: Table, settings: DataSettings) -> list[str]:
    """The column of labels."""
    if settings.label not in table.columns:
        raise DataError(
            f'{table.name} has no column "{settings.label}"; {nearest(settings.label, table.columns)}; '
            "name the column of the class with --label (label in a run file or in DataSettings)"
        )
    return texts(table, settings.label)


def domains_parts_and_groups(table: Table, settings: DataSettings) -> tuple[Texts, Texts, Texts]:
    """Three columns as `texts` has them; None for one that the table does not have."""
    domains, parts, groups = (
        texts(table, column) if column in table.columns else None
        for column in (settings.domain, settings.part, settings.group)
    )
    return domains, parts, groups


def labels_and_groups(
    table: Table, settings: DataSettings
) -> tuple[list[str | None], list[str | None] | None]:
    """The labels, None where one is missing, and the groups, None if there is no such column."""
    labels: list[str | None] = [None] * table.rows
    if settings.label in table.columns:
        labels = texts_or_none(table, settings.label)
    return labels, texts_or_none(table, settings.group) if settings.group in table.columns else None


def columns_of(path: File, choices: Sequence[DataSettings]) -> DataSettings:
    """The first settings, with the first columns of labels, paths and groups that the table has, if any."""
    if len(choices) == 1 or not is_table(path):
        return choices[0]
    names = column_names(path)
    present = {
        field: next((name for name in map(attrgetter(field), choices) if name in names), None)
        for field in ("label", "path", "group")
    }
    return replace(choices[0], **{field: name for field, name in present.items() if name is not None})


def check_column(table: Table, name: str) -> None:
    """Raise DataError, with the nearest name, if there is no such column."""
    if name not in table.columns:
        raise DataError(f'{table.name} has no column "{name}"; {nearest(name, table.columns)}')


def _as_numbers(table: Table, name: str) -> np.ndarray[Any, Any]:
    """A column as numbers of double precision, NaN where one is missing."""
    column = table.columns[name]
    if isinstance(column, np.ndarray) and column.dtype.kind in "fiub":
        return column.astype(np.float64)
    try:
        # Not by an array of texts, in which every cell is as long as the longest.
        return np.fromiter(map(_number, column), dtype=np.float64, count=len(column))
    except ValueError:
        row, cell = next((row, str(cell)) for row, cell in enumerate(column, start=1) if not _is_number(cell))
        shown = cell if len(cell) <= MOST_LETTERS else f"{cell[:MOST_LETTERS]}…"
        raise DataError(
            f'{table.name}: the column "{name}" is not numbers ("{shown}" in row {row}); '
            "leave it out with ignore, or write it as numbers"
        ) from None


def _number(cell: str | None) -> float:
    """The number in a cell, NaN if it is missing. Raises ValueError for anything else."""
    if cell is None or cell.strip().lower() in MISSING:
        return math.nan
    if "_" in cell:  # "1_000" is a number only to Python
        raise ValueError(cell)
    return float(cell)


def _is_number(cell: str | None) -> bool:
    try:
        _number(cell)
    except ValueError:
        return False
    return True


def _as_text(value: Any) -> str | None:
    if value is None or value != value:
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _csv(file: Readable) -> dict[str, Column]:
    path = name_of(file)
    try:
        with _text(file) as text:
            rows = list(_rows(text, _ending(file)))
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not text in UTF-8 ({error.reason} at byte {error.start})") from error
    except (OSError, csv.Error) as error:
        raise DataError(f"cannot read {path} as a table: {error}") from error
    if not rows:
        raise DataError(f"{path} is empty; expected a heading with the names of the columns, and rows")
    names = [name.strip() for name in rows[0]]
    _check_heading(path, [name for name in names if name])
    for number, row in enumerate(rows[1:], start=1):
        if len(row) != len(names):
            raise DataError(
                f"{path}: row {number} has {len(row)} values where the heading has {len(names)}; "
                "is a separator missing, or a text without quotes?"
            )
    columns = list(zip(*rows[1:], strict=True)) or [()] * len(names)
    for place, (name, column) in enumerate(zip(names, columns, strict=True)):
        if place and not name and any(cell.strip() for cell in column):
            raise DataError(f"{path}: column {place + 1} has values but no name; name it in the heading")
    return {name: list(column) for name, column in zip(names, columns, strict=True) if name}


def _text(file: Readable) -> TextIO:
    return TextIOWrapper(opened(file), encoding="utf-8-sig", newline="")


def _rows(file: TextIO, ending: str) -> Iterator[list[str]]:
    """The heading and the rows of a text."""
    if ending == ".tsv":
        return _divided(file, "\t")

    def columns(separator: str) -> tuple[bool, int]:
        """Whether heading and first row have equally many cells, and how many."""
        try:
            heading, *first = islice(_divided(file, separator), 2)
        except (csv.Error, ValueError):
            return False, 0
        return len(heading) > 1 and [len(row) for row in first] == [len(heading)], len(heading)

    return _divided(file, max(",;\t", key=columns))


def _divided(file: TextIO, separator: str) -> Iterator[list[str]]:
    """The lines of a text from its start, as cells, without blank lines."""
    file.seek(0)
    lines = csv.reader(file, delimiter=separator, strict=True)
    return (row for row in lines if len(row) > 1 or (row and row[0].strip()))


def _parquet_file(file: Readable) -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise SettingError(
            "reading .parquet files needs pyarrow; install it by pip install 'samekind[tables]'"
        ) from None
    try:
        return pyarrow.parquet.ParquetFile(file if isinstance(file, Path) else opened(file))
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {name_of(file)} as a Parquet table: {error}") from error


def _parquet(file: Readable) -> dict[str, Column]:
    path = name_of(file)
    try:
        table = _parquet_file(file).read()
    except (OSError, ValueError) as error:  # damage behind the heading
        raise DataError(f"cannot read {path} as a Parquet table: {error}") from error
    _check_heading(path, table.column_names)
    columns: dict[str, Column] = {}
    for name in table.column_names:
        values = table.column(name).to_numpy()
        columns[name] = values if values.dtype.kind in "fiub" else [_stored_text(value) for value in values]
    return columns


def _stored_text(value: Any) -> str | None:
    """A cell as text; some programs store texts as bytes."""
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="backslashreplace")
    return None if value is None else str(value)


def _check_heading(path: str, names: Sequence[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(f"{path} has columns of the same name: {', '.join(repeated)}; rename them")
    if names and all(_is_number(name) for name in names):
        raise DataError(
            f"{path} has no heading: its first row is numbers; add one with the names of the columns"
        )

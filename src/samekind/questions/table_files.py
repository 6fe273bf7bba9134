"""Columns of an answer as a file: CSV, or Parquet if pyarrow is installed."""

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from samekind.errors import SettingError
from samekind.storage import write_bytes

#: The endings a table may have.
TABLES = (".csv", ".parquet")
#: The first letters of a cell that a spreadsheet runs as a formula; some programs also take the wide letters
#: of East Asian scripts.
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def check_ending(path: Path, endings: Collection[str] = TABLES) -> str:
    """The ending of a file to be written; any other is refused before the work begins."""
    ending = path.suffix.lower()
    if ending not in endings:
        raise SettingError(f"expected a file ending in {', '.join(endings)}; got {path.name}")
    if ending == ".parquet":
        _arrow()
    return ending


def write_table(path: Path, columns: Mapping[str, Sequence[Any]], *, raw_texts: bool = False) -> None:
    """Write columns of one length in the format of the file's ending, whole or not at all; None is empty.

    In a CSV file a text that a spreadsheet would run as a formula gets a ' in front, unless ``raw_texts``.
    """
    ending = check_ending(path)
    columns = {name: [_as_utf8(value) for value in values] for name, values in columns.items()}
    if ending == ".csv" and not raw_texts:
        columns = {name: [_guarded(value) for value in values] for name, values in columns.items()}
    write_bytes(path, as_parquet(columns) if ending == ".parquet" else as_csv(columns).encode())


def _as_utf8(value: Any) -> Any:
    r"""Text that UTF-8 can write: bytes of a file name that are not text are written as \udcff."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _guarded(value: Any) -> Any:
    """A text with a ' in front if it begins as a formula does and is no number; anything else as it is.

    >>> [_guarded(text) for text in ("=1+1", "@here", "-1", "+1e3", "-a", "a=1", 5)]
    ["'=1+1", "'@here", '-1', '+1e3', "'-a", 'a=1', 5]
    """
    if not isinstance(value, str) or not value.startswith(FORMULAS):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def as_csv(columns: Mapping[str, Sequence[Any]]) -> str:
    r"""Columns as CSV with a header; lines end in a plain newline.

    >>> as_csv({"id": ["a", "b"], "label": [None, "x, y"]})
    'id,label\na,\nb,"x, y"\n'
    """
    text = io.StringIO()
    # The writer does not know that a carriage return ends a line, too.
    returns = any("\r" in cell for column in columns.values() for cell in column if isinstance(cell, str))
    dialect = partial(csv.writer, text, lineterminator="\n")
    writer = dialect(quoting=csv.QUOTE_NONNUMERIC) if returns else dialect()
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def as_parquet(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Columns as a Parquet file."""
    arrow = _arrow()
    content = io.BytesIO()
    arrow.parquet.write_table(arrow.table(dict(columns)), content)
    return content.getvalue()


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise SettingError(
            "Parquet files need pyarrow, which is not installed; install samekind[tables], or write a .csv"
        ) from None
    return pyarrow

"""Columns of an answer as a file: CSV, or Parquet if pyarrow is installed."""

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from samekind.errors import SettingError
from samekind.storage import write_bytes

#: The endings a table may have.
TABLES = (".csv", ".parquet")


def check_ending(path: Path, endings: Collection[str] = TABLES) -> str:
    """The ending of a file to be written; any other is refused before the work begins."""
    ending = path.suffix.lower()
    if ending not in endings:
        raise SettingError(f"expected a file ending in {', '.join(endings)}; got {path.name}")
    if ending == ".parquet":
        _arrow()
    return ending


def write_table(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of one length in the format of the file's ending, whole or not at all; None is empty."""
    columns = {name: [_as_utf8(value) for value in values] for name, values in columns.items()}
    write_bytes(path, as_parquet(columns) if check_ending(path) == ".parquet" else as_csv(columns).encode())


def _as_utf8(value: Any) -> Any:
    r"""Text that UTF-8 can write: bytes of a file name that are not text are written as \udcff."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def as_csv(columns: Mapping[str, Sequence[Any]]) -> str:
    r"""Columns as CSV with a header; lines end in a plain newline.

    >>> as_csv({"id": ["a", "b"], "label": [None, "x, y"]})
    'id,label\na,\nb,"x, y"\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
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

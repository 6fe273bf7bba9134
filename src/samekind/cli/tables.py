"""Columns of an answer as a file: CSV, or Parquet where pyarrow is there."""

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from samekind.errors import SettingError

#: The endings a table may have.
TABLES = (".csv", ".parquet")


def check_ending(path: Path, endings: Collection[str] = TABLES) -> str:
    """The ending of a file that is to be written, known before the work begins; another is refused."""
    ending = path.suffix.lower()
    if ending not in endings:
        raise SettingError(f"expected a file ending in {', '.join(endings)}; got {path.name}")
    if ending == ".parquet":
        _arrow()
    return ending


def write_table(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of one length, as the file's ending says, whole or not at all; None is left empty."""
    from samekind.storage import write_bytes

    columns = {name: [_writable(each) for each in values] for name, values in columns.items()}
    content = as_parquet(columns) if check_ending(path) == ".parquet" else as_csv(columns).encode()
    write_bytes(path, content)


def _writable(value: Any) -> Any:
    r"""A text as UTF-8 can write it: the name of a file may hold bytes that are none, written as \udcff."""
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

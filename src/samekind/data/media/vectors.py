"""Vectors: .npy arrays of one dimension, and rows of tables of numbers."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from samekind.data.files import TABLES, Member, Readable, is_array, name_of
from samekind.data.media.arrays import read_array
from samekind.data.media.medium import Medium, Problem, Suited, named_problem
from samekind.errors import DataError, SettingError

if TYPE_CHECKING:
    from samekind.data.items import Items
    from samekind.data.media import Reader
    from samekind.data.sources.table_files import Table


class VectorReader:
    """.npy arrays as (dimension,) float32; values are not changed."""

    columns: tuple[str, ...] = ()

    def __init__(self, *, dimension: int) -> None:
        if dimension < 1:
            raise SettingError(f"dimension must be at least 1; got {dimension}")
        self.dimension = dimension

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.dimension,)

    @property
    def medium(self) -> Medium:
        return VECTORS

    def read(self, file: Readable) -> Tensor:
        """The vector in the file."""
        if not is_array(file):
            raise DataError(
                f"cannot read {name_of(file)}: vectors are stored as .npy arrays of shape {self.shape}"
            )
        return read_array(file, self.shape)


class TableReader:
    """Rows of a table (.csv, .tsv, .parquet) by the names of their columns, as (columns,) float32.

    The columns may stand in any order, and others beside them. A .npy array has them in the order given.
    """

    def __init__(self, *, columns: Sequence[str]) -> None:
        if not columns or len(set(columns)) != len(columns):
            raise SettingError(f"columns must be names that differ, one or more; got {list(columns)}")
        self.columns: tuple[str, ...] = tuple(columns)

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.columns),)

    @property
    def medium(self) -> Medium:
        return VECTORS

    def read(self, file: Readable) -> Tensor:
        """The one row of a table, or the vector of a .npy file."""
        if is_array(file):
            return read_array(file, self.shape)
        if not isinstance(file, bytes) and file.suffix.lower() not in TABLES:
            if isinstance(file, Path) and not file.exists():
                raise DataError(f"there is no file or folder {file}")
            raise DataError(
                f"cannot read {name_of(file)}: this space reads rows of a table (.csv, .tsv, .parquet), "
                f"or .npy arrays of shape {self.shape}"
            )
        if isinstance(file, Member):
            raise DataError(f"cannot read {file}: tables are not read from archives; unpack it")
        from samekind.data.sources.table_files import numbers, read_table

        rows = numbers(read_table(file), self.columns)
        if len(rows) != 1:
            raise DataError(
                f"{name_of(file)} has {len(rows)} rows where one item was expected; give a table of one row "
                "(identify, predict and search take tables of many)"
            )
        return rows[0]


def rows_of(table: "Table", columns: Sequence[str], reader: "Reader") -> Tensor:
    """The items (rows, …) of a table of numbers: the reader's own columns or, where it does not name any,
    ``columns``, as many as its dimension.
    """
    from samekind.data.sources.table_files import numbers

    if reader.columns:
        return numbers(table, reader.columns)
    if len(columns) != reader.shape[0]:
        raise DataError(
            f"{table.name} has {len(columns)} columns of features, but this space reads {reader.shape[0]}: "
            f"{', '.join(columns)}"
        )
    return numbers(table, columns)


def _problems(items: "Items") -> Iterator[Problem]:
    if not isinstance(items.inputs, Tensor) or len(items) < 2 or not items.inputs.isfinite().all():
        return
    values = items.inputs.double()
    names = [str(place) for place in range(values.shape[1])]
    if items.reader is not None and items.reader.columns:
        names = [f'"{name}"' for name in items.reader.columns]
    constant = (values == values[0]).all(0)
    if constant.all():
        yield Problem("error", "all items are identical")
        return
    columns = [names[place] for place in constant.nonzero().flatten().tolist()]
    yield from named_problem(
        columns, "column is constant and tells", "columns are constant and tell", "nothing"
    )
    counting = ((values[1:] - values[:-1]) == 1).all(0) & (len(values) > 2)
    for place in counting.nonzero().flatten().tolist():
        yield Problem("warning", f"the column {names[place]} counts the rows; leave it out with ignore")


VECTORS = Medium(
    name="vectors",
    settings=("ignore",),
    reader=lambda shape: VectorReader(dimension=shape[0]),
    encoder=lambda _: Suited("MLP", {}),
    units=lambda _: "features",
    family=lambda _: "vectors",
    noise=lambda shape, count, generator: torch.randn(count, *shape, generator=generator),
    problems=_problems,
)

"""Tables: numbers and texts by column, and every cell that is neither named by row and column."""

import builtins
import csv
import tracemalloc

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from samekind.data.sources.table_files import (
    column_names,
    is_table,
    numbers,
    read_table,
    texts,
    texts_or_none,
)
from samekind.errors import DataError, SettingError

COLUMNS = {"height": ["1.5", "2", "-3e2"], "width": ["0", "7", "8"], "label": ["a", "b b", "a"]}


def save_csv(path, columns, separator=",", encoding="utf-8"):
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def save_parquet(path, columns):
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_reads_every_common_form_of_text(tmp_path, separator, encoding):
    path = save_csv(tmp_path / "t.csv", COLUMNS, separator, encoding)
    table = read_table(path)
    assert table.rows == 3
    assert numbers(table, ["width", "height"]).tolist() == [[0, 1.5], [7, 2], [8, -300]]
    assert texts(table, "label") == ["a", "b b", "a"]
    assert column_names(path) == ["height", "width", "label"]
    assert is_table(path)


def test_a_parquet_file_reads_like_text(tmp_path):
    path = save_parquet(
        tmp_path / "t.parquet",
        {"height": [1.5, 2, -300], "width": [0, 7, 8], "label": ["a", "b b", "a"], "number": [3.0, 4.0, 5.5]},
    )
    table = read_table(path)
    assert numbers(table, ["width", "height"]).tolist() == [[0, 1.5], [7, 2], [8, -300]]
    assert texts(table, "label") == ["a", "b b", "a"]
    assert texts(table, "number") == ["3", "4", "5.5"]
    assert column_names(path) == ["height", "width", "label", "number"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_missing_values_are_named_by_row_and_column(tmp_path, kind):
    if kind == "csv":
        path = save_csv(tmp_path / "t.csv", {"a": ["1", "", "3"], "b": ["-nan", "?", "2"]})
    else:
        path = save_parquet(tmp_path / "t.parquet", {"a": [1, None, 3], "b": [float("nan"), None, 2.0]})
    with pytest.raises(
        DataError, match=r'3 missing values: row 2, column "a"; row 1, column "b"; row 2, column "b"'
    ):
        numbers(read_table(path), ["a", "b"])


def test_many_missing_values_are_counted(tmp_path):
    path = save_csv(tmp_path / "t.csv", {"a": [""] * 25 + ["1"], "b": ["1"] * 26})
    with pytest.raises(DataError, match=r"25 missing values: row 1, .*row 20, .* and 5 more\. Fill them in"):
        numbers(read_table(path), ["a"])


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (["1", "red", "3"], r'column "a" is not numbers \("red" in row 2\); leave it out with ignore'),
        (["1", "", "1,5"], r'"1,5" in row 3'),
        (["1", "1_000", "3"], r'column "a" is not numbers \("1_000" in row 2\)'),
        (["-nan", "NA", "red"], r'"red" in row 3'),
        (["1", "inf", "3"], r'row 2, column "a" is not a finite number'),
        (["1", "2", "1e300"], r'row 3, column "a" is not a finite number'),
    ],
)
def test_refuses_a_cell_that_is_not_a_number(tmp_path, values, says):
    path = save_csv(tmp_path / "t.csv", {"a": values, "b": ["1", "2", "3"]}, ";")
    with pytest.raises(DataError, match=says):
        numbers(read_table(path), ["a"])


def test_refuses_texts_in_a_parquet_file(tmp_path):
    path = save_parquet(tmp_path / "t.parquet", {"a": ["1", "red"]})
    with pytest.raises(DataError, match=r'column "a" is not numbers \("red" in row 2\)'):
        numbers(read_table(path), ["a"])


def test_refuses_an_empty_text(tmp_path):
    table = read_table(save_csv(tmp_path / "t.csv", {"label": ["a", " ", ""], "x": ["1", "2", "3"]}))
    with pytest.raises(DataError, match=r'column "label" is empty in row 2, 3'):
        texts(table, "label")
    table = read_table(save_parquet(tmp_path / "t.parquet", {"label": ["a", None]}))
    with pytest.raises(DataError, match="is empty in row 2"):
        texts(table, "label")


def test_a_long_text_is_refused_in_little_memory_and_few_words(tmp_path):
    """An array of texts would take as much for every row as for the longest: here 320 MB."""
    path = save_csv(tmp_path / "t.csv", {"review": ["word " * 4000] + ["w"] * 4000, "x": ["1"] * 4001})
    table = read_table(path)
    tracemalloc.start()
    with pytest.raises(DataError, match=r'column "review" is not numbers') as caught:
        numbers(table, ["review"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20
    assert len(str(caught.value)) < 200


def test_texts_stored_as_bytes_are_decoded(tmp_path):
    path = save_parquet(
        tmp_path / "t.parquet", {"label": ["Bär".encode(), b"\xff", None], "a": [b"1", b"2", b""]}
    )
    table = read_table(path)
    assert texts_or_none(table, "label") == ["Bär", "\\xff", None]
    with pytest.raises(DataError, match='1 missing values: row 3, column "a"'):
        numbers(table, ["a"])


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        pytest.param('"width, cm";"height, cm";label\n1;2;x\n', ["width, cm", "height, cm"], id="in quotes"),
        pytest.param('"a, ""b""";"c, d"\n1;2\n', ['a, "b"', "c, d"], id="as many in quotes"),
        pytest.param('"width\n(cm, in)";height;label\n1;2;x\n', ["width\n(cm, in)", "height"], id="lines"),
        pytest.param(
            "size (x, y, z);b;label\n1;2;x\n", ["size (x, y, z)", "b"], id="as many, but not in rows"
        ),
        pytest.param('5" screen;of, all;label\n1;2;x\n', ['5" screen', "of, all"], id="a quote inside"),
        pytest.param("\n  \na;b;label\n\n1;2;x\n \n", ["a", "b"], id="blank lines"),
        pytest.param("a;b;label;;\n1;2;x;; \n", ["a", "b"], id="empty columns at the end"),
        pytest.param(";a;;b\n0;1;;2\n", ["a", "b"], id="an index and an empty column"),
        pytest.param('\ufeff"a";b\r\n1;2\r\n', ["a", "b"], id="of Windows"),
        pytest.param("a;b\r1;2\r", ["a", "b"], id="of old Macs"),
    ],
)
def test_the_heading_tells_the_separator(tmp_path, content, columns):
    path = tmp_path / "t.csv"
    path.write_bytes(content.encode())
    table = read_table(path)
    assert [name for name in table.columns if name != "label"] == columns
    assert [name for name in column_names(path) if name not in ("", "label")] == columns
    assert numbers(table, columns).tolist() == [[1, 2]]


def test_an_unknown_column_is_answered_with_the_nearest(tmp_path):
    table = read_table(save_csv(tmp_path / "t.csv", COLUMNS))
    with pytest.raises(DataError, match=r't\.csv has no column "lable"; did you mean "label"'):
        texts(table, "lable")


def test_the_index_of_a_data_frame_is_left_out(tmp_path):
    table = read_table(save_csv(tmp_path / "t.csv", {"": ["0", "1"], "a": ["5", "6"]}))
    assert list(table.columns) == ["a"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty; expected a heading"),
        (b"a,b\n", "has a heading but no rows"),
        (b"a;b;c\n1;2\n", "row 1 has 2 values where the heading has 3"),
        (b"a,b\n1,2\n3\n", "row 2 has 1 values where the heading has 2"),
        (b"a,a\n1,2\n", "columns of the same name: a"),
        (b"a,,b\n1,2,3\n", "column 2 has values but no name; name it in the heading"),
        (b",,\n1,2,3\n", "column 2 has values but no name"),
        (b",\n,\n", "has no named column"),
        (b"1,2\n3,4\n", "has no heading: its first row is numbers"),
        (b"a,b\n1,\xff\n", "is not text in UTF-8"),
        (b'a,b\n"1,2\n', "cannot read .* as a table"),
    ],
)
def test_refuses_files_that_are_not_tables(tmp_path, content, says):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataError, match=says):
        read_table(tmp_path / "t.csv")


def test_refuses_a_missing_or_broken_parquet_file(tmp_path):
    with pytest.raises(DataError, match=r"no file .*none\.csv"):
        read_table(tmp_path / "none.csv")
    (tmp_path / "t.parquet").write_bytes(b"none")
    with pytest.raises(DataError, match=r"cannot read .*t\.parquet as a Parquet table"):
        read_table(tmp_path / "t.parquet")


def test_says_what_to_install_for_parquet(tmp_path, monkeypatch):
    path = save_parquet(tmp_path / "t.parquet", {"a": [1]})
    there = builtins.__import__

    def missing(name, *rest):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return there(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(SettingError, match=r"pip install 'samekind\[tables\]'"):
        read_table(path)


@hypothesis_settings(max_examples=20)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_numbers_come_back_exactly(tmp_path_factory, values):
    path = save_csv(tmp_path_factory.mktemp("table") / "t.csv", {"a": [repr(value) for value in values]})
    assert numbers(read_table(path), ["a"]).flatten().tolist() == [
        float(np.float32(value)) for value in values
    ]

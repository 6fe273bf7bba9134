"""Tables come back as they were written, and only whole."""

import csv
import sys

import pyarrow.parquet
import pytest

from samekind.data.sources.table_files import read_table
from samekind.errors import SettingError
from samekind.questions.table_files import as_csv, check_ending, write_table

COLUMNS = {"id": ['a,"b"', "c\nd", "é"], "label": [None, "x", ""], "value": [0.1, 1e-30, -2.0]}


def test_csv_comes_back(tmp_path):
    write_table(tmp_path / "new" / "table.CSV", COLUMNS)
    with (tmp_path / "new" / "table.CSV").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == COLUMNS["id"]
    assert [row["label"] for row in rows] == ["", "x", ""]
    assert [float(row["value"]) for row in rows] == COLUMNS["value"]


def test_parquet_comes_back(tmp_path):
    write_table(tmp_path / "table.parquet", COLUMNS)
    assert pyarrow.parquet.read_table(tmp_path / "table.parquet").to_pydict() == COLUMNS


HOSTILE = ["=HYPERLINK(1)", "+cmd|' /C calc'!A0", "-1+1", "@SUM(1)", "\t=1", "\r=1", "\uff1d1"]
HARMLESS = ["a=1", "-1", "+1e-3", "", "'=1", "x\n=1"]


def test_a_spreadsheet_runs_no_name_unless_texts_are_asked_for_raw(tmp_path):
    columns = {"id": HOSTILE + HARMLESS, "value": [-1.5] * 13}
    for raw in (False, True):
        write_table(tmp_path / "table.csv", columns, raw_texts=raw)
        with (tmp_path / "table.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        names = [row["id"] for row in rows]
        assert names == [*(text if raw else f"'{text}" for text in HOSTILE), *HARMLESS]
        assert {row["value"] for row in rows} == {"-1.5"}
    write_table(tmp_path / "table.parquet", columns)
    assert pyarrow.parquet.read_table(tmp_path / "table.parquet").to_pydict() == columns


def test_no_rows_are_a_header():
    assert as_csv({"id": [], "label": []}) == "id,label\n"


def test_refuses_columns_of_different_lengths():
    with pytest.raises(ValueError, match="shorter"):
        as_csv({"a": [1, 2], "b": [1]})


@pytest.mark.parametrize("name", ["table", "table.txt", "csv", "table.csv.gz"])
def test_refuses_an_unknown_ending(tmp_path, name):
    with pytest.raises(SettingError, match=r"expected a file ending in \.csv, \.parquet; got "):
        check_ending(tmp_path / name)


def test_says_what_to_do_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(SettingError, match=r"install samekind\[tables\], or write a \.csv"):
        write_table(tmp_path / "table.parquet", COLUMNS)
    assert list(tmp_path.iterdir()) == []
    write_table(tmp_path / "table.csv", COLUMNS)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_escapes_names_that_are_not_text(tmp_path, name):
    """A file's name is bytes: those that are not UTF-8 come as lone surrogates."""
    path = tmp_path / name
    write_table(path, {"id": ["b\udcff.png", None], "n": [1, 2]})
    assert read_table(path).columns["id"][0] == "b\\udcff.png"

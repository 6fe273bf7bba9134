"""Vectors come from arrays, rows from tables."""

from io import BytesIO

import pyarrow
import pyarrow.parquet
import pytest
import torch

from samekind.data import VECTORS, Items, TableReader, VectorReader, write_image
from samekind.data.media.vectors import rows_of
from samekind.data.sources.table_files import Table
from samekind.errors import DataError


def test_vectors_are_arrays_only(tmp_path):
    write_image(tmp_path / "image.png", torch.zeros(3, 4, 6))
    with pytest.raises(DataError, match=r"image\.png: vectors are stored as \.npy arrays of shape \(4,\)"):
        VectorReader(dimension=4).read(tmp_path / "image.png")


def test_a_table_of_one_row_is_one_item(tmp_path):
    reader = TableReader(columns=["height", "weight"])
    (tmp_path / "one.csv").write_text("weight,name,height\n3,x,4.5\n", encoding="utf-8")
    assert reader.read(tmp_path / "one.csv").tolist() == [4.5, 3]
    (tmp_path / "two.csv").write_text("weight,height\n3,4\n5,6\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"two\.csv has 2 rows where one item was expected; give a table of one row"
    ):
        reader.read(tmp_path / "two.csv")


def test_a_folder_or_file_that_is_not_there_is_said_to_be_missing(tmp_path):
    with pytest.raises(DataError, match=r"there is no file or folder .*birds"):
        TableReader(columns=["a"]).read(tmp_path / "birds")


def test_a_row_is_read_from_the_bytes_of_a_table():
    reader = TableReader(columns=["b", "a"])
    assert reader.read(b"a,b\n1,2\n").tolist() == [2, 1]
    parquet = BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"a": [5.0], "b": [6.0]}), parquet)
    assert reader.read(parquet.getvalue()).tolist() == [6, 5]
    with pytest.raises(DataError, match="11 bytes has 2 rows where one item was expected"):
        reader.read(b"a,b\n1,2\n3,4")
    with pytest.raises(DataError, match="4 bytes is not text in UTF-8"):
        reader.read(b"\x89PNG")


TABLE = Table("t.csv", {"a": ["1", "2"], "b": ["3", "4"]}, 2)


def test_rows_are_read_by_the_names_of_a_reader_or_else_in_order():
    assert rows_of(TABLE, (), TableReader(columns=["b"])).tolist() == [[3], [4]]
    assert rows_of(TABLE, ["a", "b"], VectorReader(dimension=2)).tolist() == [[1, 3], [2, 4]]
    with pytest.raises(DataError, match=r"t\.csv has 1 columns of features, but this space reads 2: a"):
        rows_of(TABLE, ["a"], VectorReader(dimension=2))
    assert TableReader(columns=["a"]).columns == ("a",)
    assert VectorReader(dimension=2).columns == ()


def test_vectors_are_standardised_by_feature_and_go_to_an_mlp():
    assert (VECTORS.units((5,)), VECTORS.standardise, VECTORS.encoder((5,)).name) == ("features", True, "MLP")
    assert not VECTORS.pretrained((5,))
    assert VECTORS.augmentations((5,)) == ()
    assert not VECTORS.shows((5,))


def test_columns_are_named_in_what_looks_wrong():
    inputs = torch.tensor([[1.0, 7.0], [2.0, 7.0], [3.0, 7.0]])
    items = Items(inputs, torch.tensor([0, 1, 0]), ("a", "b"), "t", reader=TableReader(columns=["x", "y"]))
    sentences = [problem.sentence for problem in VECTORS.problems(items)]
    assert sentences == [
        '1 column is constant and tells nothing: "y"',
        'the column "x" counts the rows; leave it out with ignore',
    ]

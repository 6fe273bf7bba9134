"""Rows as items and manifests of files: which column means what, and what may not be said twice."""

import pytest

from samekind.data import DataSettings, TableReader
from samekind.data.sources.table_files import Table
from samekind.data.sources.tables import feature_columns, table_items
from samekind.errors import DataError

FLOWERS = Table(
    name="flowers.csv",
    columns={
        "petal": ["1", "2", "3", "4"],
        "label": ["rose", "lily", "rose", "lily"],
        "sepal": ["5", "6", "7", "8"],
        "domain": ["garden", "field", "field", "garden"],
        "split": ["train", "train", "test", "test"],
        "group": ["s1", "s1", "s2", "s3"],
    },
    rows=4,
)


def manifest(**columns):
    return Table(name="list.csv", columns=columns, rows=len(next(iter(columns.values()))))


def test_every_column_without_another_meaning_is_a_feature():
    items = table_items(FLOWERS, DataSettings())
    assert items.inputs.tolist() == [[1, 5], [2, 6], [3, 7], [4, 8]]
    assert items.classes == ("lily", "rose")
    assert items.labels.tolist() == [1, 0, 1, 0]
    assert (items.domain_names, items.domains.tolist()) == (("field", "garden"), [1, 0, 0, 1])
    assert items.parts == ("train", "train", "test", "test")
    assert items.groups.tolist() == [0, 0, 1, 2]
    assert items.ids[2] == "row 3"
    assert isinstance(items.reader, TableReader)
    assert items.reader.columns == ("petal", "sepal")


def test_the_settings_choose_columns():
    assert feature_columns(FLOWERS, DataSettings(columns=("sepal", "petal"))) == ["sepal", "petal"]
    assert feature_columns(FLOWERS, DataSettings(ignore=("sepal",))) == ["petal"]
    by_domain = table_items(FLOWERS, DataSettings(label="domain", domain="label", ignore=("split", "group")))
    assert by_domain.classes == ("field", "garden")
    assert by_domain.domain_names == ("lily", "rose")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"label": "species"}, 'no column "species"'),
        ({"columns": ("petals",)}, 'no column "petals"; did you mean "petal"'),
        ({"ignore": ("sepals",)}, 'no column "sepals"'),
        ({"columns": ("petal", "label")}, 'the label column "label" cannot be a feature'),
        ({"ignore": ("petal", "sepal")}, "no column of features beside"),
    ],
)
def test_refuses_impossible_columns(settings, says):
    with pytest.raises(DataError, match=says):
        table_items(FLOWERS, DataSettings(**settings))


def test_refuses_a_list_of_pictures_as_a_table():
    table = manifest(notes=["x", "y"], filename=["x/1.PNG", "x/2.png"], label=["a", "b"])
    with pytest.raises(DataError, match=r'"filename" names files \("x/1\.PNG" in row 1\).*--path filename'):
        table_items(table, DataSettings())
    with pytest.raises(DataError, match='"notes" is not numbers'):
        table_items(table, DataSettings(ignore=("filename",)))

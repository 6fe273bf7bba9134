"""Lists of files: paths from their own folder, and no file with two labels."""

import numpy as np
import pytest

from samekind.data import DataSettings, TableReader, VectorReader, collect, open_data
from samekind.data.sources import format_of, manifests, tables
from samekind.data.sources.manifests import list_manifest
from samekind.data.sources.table_files import Table
from samekind.errors import DataError


def manifest(**columns):
    return Table(name="list.csv", columns=columns, rows=len(next(iter(columns.values()))))


def test_a_manifest_names_files_from_its_own_folder(tmp_path):
    table = manifest(path=["x/1.png", "/data/2.png"], label=["a", "b"], group=["g", "h"])
    listing = list_manifest(table, tmp_path, DataSettings())
    assert [str(file) for file in listing.files] == [str(tmp_path / "x/1.png"), "/data/2.png"]
    assert (listing.labels, listing.ids) == (["a", "b"], ["x/1.png", "/data/2.png"])
    assert (listing.groups, listing.domains, listing.parts) == (["g", "h"], None, None)


@pytest.mark.parametrize("again", ["1.png", "./1.png"])
def test_a_file_named_twice_is_taken_once(tmp_path, again):
    table = manifest(path=["1.png", "2.png", again], label=["a", "b", "a"])
    listing = list_manifest(table, tmp_path, DataSettings())
    assert listing.ids == ["1.png", "2.png"]
    assert listing.repeated == [again]


@pytest.mark.parametrize(
    ("beside", "says"),
    [
        ({"label": ["a", "b", "b"]}, r'1\.png is "a" in row 1 and "b" in row 3'),
        (
            {"label": ["a", "b", "a"], "split": ["train", "train", "test"]},
            r'"train" in row 1 and "test" in row 3',
        ),
        ({"label": ["a", "b", "a"], "group": ["g", "h", "i"]}, r'"g" in row 1 and "i" in row 3'),
        ({"label": ["a", "b", "a"], "domain": ["u", "v", "v"]}, r'"u" in row 1 and "v" in row 3'),
    ],
)
def test_refuses_a_file_with_two_labels(tmp_path, beside, says):
    with pytest.raises(DataError, match=says):
        list_manifest(manifest(path=["1.png", "2.png", "1.png"], **beside), tmp_path, DataSettings())


def test_refuses_paths_of_windows_that_are_not_found(tmp_path):
    table = manifest(path=["x\\1.png", "x\\2.png"], label=["a", "b"])
    assert len(list_manifest(table, tmp_path, DataSettings()).files) == 2
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "1.png").touch()
    with pytest.raises(DataError, match=r"the paths have backslashes \(x\\1\.png\).*write them with /"):
        list_manifest(table, tmp_path, DataSettings())


def test_a_list_of_vectors_is_opened_and_used(tmp_path):
    for number in range(3):
        np.save(tmp_path / f"{number}.npy", np.array([number, 1.0]))
    (tmp_path / "list.csv").write_text("path,label\n0.npy,a\n1.npy,b\n2.npy,a\n", encoding="utf-8")
    assert open_data(tmp_path / "list.csv").inputs[:, 0].tolist() == [0, 1, 2]
    used = collect([tmp_path / "list.csv"], VectorReader(dimension=2))
    assert used.inputs[:, 0].tolist() == [0, 1, 2]
    assert used.labels == ("a", "b", "a")


def test_a_reader_of_columns_takes_a_list_for_a_table(tmp_path):
    (tmp_path / "list.csv").write_text("path,x\na.png,1\n", encoding="utf-8")
    settings = DataSettings()
    assert format_of(tmp_path / "list.csv", settings) is manifests
    assert format_of(tmp_path / "list.csv", settings, TableReader(columns=["x"])) is tables

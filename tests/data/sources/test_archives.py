"""Archives of class folders list what the folders do."""

import zipfile

import pytest

from samekind.data import DataSettings
from samekind.data.sources import archives, folders


def list_folder(path):
    return folders.labelled(path, DataSettings())


def list_archive(path):
    return archives.labelled(path, DataSettings())


def named(listing):
    return sorted(zip(listing.ids, listing.labels, strict=True))


@pytest.mark.parametrize("wrapped", [False, True])
def test_an_archive_lists_what_its_folder_does(make_folder, zipped, wrapped):
    root = make_folder({"cat": 2, "birds/owl": 1, "empty": 0})
    packed = list_archive(zipped(root, wrapped=wrapped))
    assert named(packed) == named(list_folder(root))
    assert packed.name == "animals"
    assert packed.empty == list_folder(root).empty == ["empty"]


@pytest.mark.parametrize("begins", ["/", "./", "../", "./animals/"])
def test_an_archive_lists_the_same_however_its_names_begin(make_folder, tmp_path, begins):
    root = make_folder({"cat": 2, "birds/owl": 1})
    with zipfile.ZipFile(tmp_path / "animals.zip", "w") as archive:
        for path in sorted(root.rglob("*.png")):
            archive.writestr(zipfile.ZipInfo(f"{begins}{path.relative_to(root)}"), path.read_bytes())
    assert named(list_archive(tmp_path / "animals.zip")) == named(list_folder(root))


def test_an_archive_from_windows_with_backslashes_lists_the_same(make_folder, tmp_path):
    root = make_folder({"cat": 2, "birds/owl": 1})
    with zipfile.ZipFile(tmp_path / "animals.zip", "w") as archive:
        for path in sorted(root.rglob("*.png")):
            entry = zipfile.ZipInfo("x")
            entry.filename = str(path.relative_to(root)).replace("/", "\\")
            entry.create_system = 0
            archive.writestr(entry, path.read_bytes())
    inside, outside = list_archive(tmp_path / "animals.zip"), list_folder(root)
    assert (inside.ids, inside.labels) == (outside.ids, outside.labels)


def test_an_archive_of_one_class_folder_is_not_taken_for_a_wrapped_one(make_folder, zipped):
    assert set(list_archive(zipped(make_folder({"cat": 2}))).labels) == {"cat"}

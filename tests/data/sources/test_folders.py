"""Folders and archives of class folders: one class for each path, and nothing hidden among them."""

import zipfile
from pathlib import Path

import pytest

from samekind.data import DataSettings, ImageReader, collect
from samekind.data.sources import archives, folders
from samekind.data.sources.folders import class_of
from samekind.errors import DataError


def list_folder(path):
    return folders.labelled(path, DataSettings())


def list_archive(path):
    return archives.labelled(path, DataSettings())


def named(listing):
    return sorted(zip(listing.ids, listing.labels, strict=True))


def test_the_class_is_the_path_of_the_folder(make_folder):
    root = make_folder({"cat": 2, "birds/owl": 1, "birds/crow": 2})
    listing = list_folder(root)
    assert named(listing) == [
        ("birds/crow/0.png", "birds/crow"),
        ("birds/crow/1.png", "birds/crow"),
        ("birds/owl/0.png", "birds/owl"),
        ("cat/0.png", "cat"),
        ("cat/1.png", "cat"),
    ]
    assert listing.files == [root / name for name in listing.ids]
    assert (listing.name, listing.empty, listing.foreign) == ("animals", [], [])


@pytest.mark.parametrize(
    "name", ["README.txt", "animals/README.txt", "animals/labels.csv", "about/README.txt"]
)
def test_other_files_do_not_change_the_classes(make_folder, zipped, name):
    """The classes are those of the pictures alone, as they are for `collect`."""
    root = make_folder({"cat": 2, "birds/owl": 1, "empty": 0})
    path = zipped(root, wrapped=True)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, "about")
    listing = list_archive(path)
    assert named(listing) == named(list_folder(root))
    assert listing.empty == ["empty"]
    assert listing.foreign == [name.removeprefix("animals/")]
    reader = ImageReader(height=6, width=8, channels=3)
    assert sorted(collect([path], reader).labels) == sorted(listing.labels)


def test_hidden_files_are_ignored(make_folder, zipped):
    root = make_folder({"cat": 1})
    for name in (".DS_Store", "cat/._0.png", "__MACOSX/cat/0.png"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"x")
    assert list_folder(root).ids == list_archive(zipped(root)).ids == ["cat/0.png"]
    assert list_folder(root).foreign == []


def test_empty_folders_and_foreign_files_are_named(make_folder):
    root = make_folder({"cat": 1, "dog": 0, "birds/owl": 1, "birds/emu": 0})
    (root / "README.txt").write_text("about", encoding="utf-8")
    (root / "cat" / "notes.doc").write_text("more", encoding="utf-8")
    listing = list_folder(root)
    assert listing.empty == ["birds/emu", "dog"]
    assert listing.foreign == ["README.txt", "cat/notes.doc"]


def test_suffixes_are_known_in_any_case(make_folder):
    root = make_folder({"cat": 1})
    (root / "cat" / "0.png").rename(root / "cat" / "0.PNG")
    assert list_folder(root).ids == ["cat/0.PNG"]


def test_refuses_pictures_without_a_class(make_folder, make_picture):
    root = make_folder({"cat": 1})
    make_picture(root / "loose.png")
    with pytest.raises(DataError, match=r"1 of the 2 pictures of animals lie in no class folder: loose\.png"):
        list_folder(root)
    (root / "cat" / "0.png").unlink()
    with pytest.raises(DataError, match=r"the pictures of animals lie in no class folder \(loose\.png"):
        list_folder(root)


def test_the_class_of_a_name():
    assert [class_of(name) for name in ("a.png", "x/a.png", "x/y/a.png")] == ["", "x", "x/y"]


def test_follows_links_to_folders_but_not_in_circles(make_folder, tmp_path):
    root = make_folder({"cat": 2, "dog": 1})
    linked = tmp_path / "linked"
    linked.mkdir()
    for name in ("cat", "dog"):
        (linked / name).symlink_to(root / name, target_is_directory=True)
    (linked / "again").symlink_to(linked, target_is_directory=True)
    listing = list_folder(linked)
    assert (listing.ids, listing.labels) == (list_folder(root).ids, ["cat", "cat", "dog"])
    assert listing.empty == []


def test_refuses_an_unreadable_folder(make_folder, monkeypatch):
    """Not left out: its pictures would be missing without a word."""
    root = make_folder({"cat": 1, "dog": 1})
    listed = Path.iterdir

    def refuse(folder):
        if folder.name == "dog":
            raise PermissionError(13, "Permission denied", str(folder))
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(DataError, match=r"cannot read the folder .*dog: Permission denied"):
        list_folder(root)


def test_the_first_folder_is_the_domain_where_the_settings_say_so(make_folder, zipped):
    root = make_folder({"sketch/dog": 2, "photo/dog": 1, "photo/cat": 1})
    for listing in (
        folders.labelled(root, DataSettings(domain="folder")),
        archives.labelled(zipped(root), DataSettings(domain="folder")),
    ):
        rows = sorted(zip(listing.ids, listing.domains, listing.labels, strict=True))
        assert rows == [
            ("photo/cat/0.png", "photo", "cat"),
            ("photo/dog/0.png", "photo", "dog"),
            ("sketch/dog/0.png", "sketch", "dog"),
            ("sketch/dog/1.png", "sketch", "dog"),
        ]


def test_a_file_without_a_class_inside_its_domain_is_named(make_folder):
    root = make_folder({"sketch/dog": 2, "photo": 1})
    with pytest.raises(DataError, match=r"photo/0\.png does not"):
        folders.labelled(root, DataSettings(domain="folder"))

"""An examination says everything at once, and keeps nothing in memory."""

import dataclasses

import pytest
import torch
from PIL import Image

from samekind.data import DataSettings, Split, clusters, digits, examine


def test_data_that_is_fine_is_only_described():
    report = examine("digits")
    assert report.problems == ()
    assert (report.name, report.items) == ("digits", 1797)
    assert sum(report.classes.values()) == 1797
    assert report.memory == digits().inputs.nbytes
    assert (report.domains, report.parts, report.groups) == ({}, {}, 0)


@pytest.mark.parametrize("packed", [False, True])
def test_reports_all_problems_of_a_folder_at_once(make_folder, make_picture, zipped, packed):
    root = make_folder({"cat": 4, "dog": 3, "emu": 0, "Dog": 1})
    (root / "cat" / "1.png").write_bytes(b"broken")
    make_picture(root / "cat" / "2.png", seed=7, height=90, width=90)
    cut = root / "cat" / "2.png"
    cut.write_bytes(cut.read_bytes()[:5000])
    (root / "dog" / "0.png").write_bytes((root / "cat" / "0.png").read_bytes())
    (root / "README").write_text("about", encoding="utf-8")
    report = examine(zipped(root) if packed else root, settings=DataSettings(size=(6, 8)))
    assert sum("cat/1.png" in name or "cat/2.png" in name for name, _ in report.unreadable) == 2
    assert any("2 of 8 files cannot be read" in problem for problem in report.errors)
    said = "\n".join(report.warnings)
    for part in (
        "1 class folder has no items: emu",
        "1 file is neither picture, sound nor array and is left out: README",
        '"Dog" and "dog" differ only by case',
        "1 class has a single item",
        "1 content has more than one label",
    ):
        assert part in said
    assert report.sizes == {(6, 8): 6, (90, 90): 1}
    assert report.duplicates == (("cat/0.png", "dog/0.png"),)


def test_advises_on_sounds_that_are_not_read(tmp_path):
    for name in ("anna/1.m4a", "anna/2.M4A", "ben/1.aac"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"sound")
    report = examine(tmp_path)
    way_in = "; .m4a is not read: convert sounds to .wav, .flac or .ogg"
    assert report.errors[0].endswith(f"expected folders of them, one for each class{way_in}")
    assert report.warnings == (
        "2 class folders have no items: anna, ben",
        "3 files are neither pictures, sounds nor arrays and are left out: anna/1.m4a, anna/2.M4A, "
        f"ben/1.aac{way_in}",
    )


def test_the_size_that_pictures_of_several_get_is_told(make_folder, make_picture):
    root = make_folder({"cat": 3, "dog": 2})
    make_picture(root / "dog" / "9.png", height=4, width=4)
    report = examine(root)
    assert report.classes == {"cat": 3, "dog": 3}
    assert report.sizes == {(6, 8): 5, (4, 4): 1}
    assert not report.errors
    assert any(
        "2 different sizes" in warning and "brought to 6 x 6" in warning for warning in report.warnings
    )
    assert not any("sizes" in warning for warning in examine(root, settings=DataSettings(size=8)).warnings)


def test_describes_data_that_cannot_be_opened(make_folder):
    root = make_folder({"cat": 2, "dog": 3})
    report = examine(root, settings=DataSettings(classes=("cat",)))
    assert report.classes == {"cat": 2, "dog": 3}
    assert "outside the given classes" in report.errors[0]


def test_skipping_makes_unreadable_files_a_warning(make_folder):
    root = make_folder({"cat": 3, "dog": 3})
    (root / "cat" / "1.png").write_bytes(b"broken")
    assert examine(root).errors
    assert examine(root, settings=DataSettings(skip_unreadable=True)).errors == ()


@pytest.mark.parametrize("source", ["digit", "none.csv"])
def test_a_missing_source_is_an_error_in_the_report(source):
    report = examine(source)
    assert report.items == 0
    assert report.errors[0].startswith("there is no")


def test_items_know_their_domains_groups_and_parts():
    items = dataclasses.replace(
        clusters(classes=2, items=4, dimension=3),
        domains=torch.tensor([0, 1] * 4),
        domain_names=("photo", "sketch"),
        groups=torch.arange(8) // 2,
        parts=("train", "test") * 4,
    )
    report = examine(items)
    assert (report.domains, report.groups, report.parts) == (
        {"photo": 4, "sketch": 4},
        4,
        {"train": 4, "test": 4},
    )


def test_reports_problems_of_a_split():
    items = clusters(classes=2, items=4, dimension=3)
    items = dataclasses.replace(items, inputs=items.inputs.index_fill(0, torch.tensor([0, 1]), 1.0))
    split = Split(
        parts={"train": torch.tensor([0]), "test": torch.tensor([1])}, fingerprint=items.fingerprint()
    )
    assert not any("more than one part" in warning for warning in examine(items).warnings)
    assert any("more than one part" in warning for warning in examine(items, split=split).warnings)


def test_a_blank_picture_is_found_among_stored_ones(make_folder):
    root = make_folder({"cat": 3, "dog": 3})
    Image.new("RGB", (8, 6), "red").save(root / "cat" / "1.png")
    assert any(
        "1 picture is blank" in warning and "cat/1.png" in warning for warning in examine(root).warnings
    )

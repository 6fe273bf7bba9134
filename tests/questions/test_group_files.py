"""Groups as files: every item in its group's folder, and nothing overwritten."""

import csv
import os
import shutil

import numpy
import pytest
import torch
from PIL import Image

from samekind.errors import SettingError
from samekind.inference.cluster import Groups
from samekind.questions.group_files import check_folder, group_columns, write_groups
from samekind.reports.groups_page import Grouped


def grouped(folder, names, groups):
    """Pictures that are files where their name ends in .png."""
    inputs = torch.arange(len(names), dtype=torch.uint8).reshape(-1, 1, 1, 1).expand(-1, 1, 2, 2) * 10
    for name, picture in zip(names, inputs, strict=True):
        if name.endswith(".png"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(picture[0].numpy()).save(folder / name)
    assigned = torch.tensor(groups)
    return Grouped(
        inputs=inputs,
        z=assigned[:, None].float(),
        ids=[str(folder / name) for name in names],
        labels=[None] * len(names),
        groups=Groups(assigned, torch.arange(assigned.max() + 1)[:, None].float()),
    )


def test_copies_pictures_as_they_are(tmp_path):
    answer = grouped(tmp_path / "in", ["a/x.png", "b/x.png", "c/X.png", "d/y.png"], [0, 0, 0, 1])
    write_groups(tmp_path / "out", answer, title="title")
    assert sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.*")) == [
        "group-1/X-3.png",
        "group-1/x-2.png",
        "group-1/x.png",
        "group-2/y.png",
        "groups.csv",
        "report.html",
    ]
    for source, copy in [("a/x.png", "group-1/x.png"), ("b/x.png", "group-1/x-2.png")]:
        assert (tmp_path / "in" / source).read_bytes() == (tmp_path / "out" / copy).read_bytes()


def test_writes_pictures_without_a_file_as_the_space_sees_them(tmp_path):
    answer = grouped(tmp_path / "in", ["pack.zip/a.jpg", "array.npy, item 1", "one.npy"], [0, 0, 0])
    write_groups(tmp_path / "out", answer, title="title")
    with Image.open(tmp_path / "out" / "group-1" / "array.npy, item 1.png") as picture:
        assert numpy.asarray(picture).tolist() == [[10, 10], [10, 10]]
    assert sorted(path.name for path in (tmp_path / "out" / "group-1").iterdir()) == [
        "a.png",
        "array.npy, item 1.png",
        "one.png",
    ]


def test_other_items_are_in_the_table_alone(tmp_path):
    answer = grouped(tmp_path / "in", ["a.png", "b.png"], [1, 0])
    rows = Grouped(torch.zeros(2, 5), answer.z, answer.ids, ["x", None], answer.groups)
    write_groups(tmp_path / "out", rows, title="title")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["groups.csv", "report.html"]
    with (tmp_path / "out" / "groups.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    assert lines == [
        ["id", "label", "group", "distance"],
        [str(tmp_path / "in" / "a.png"), "x", "2", "0.0"],
        [str(tmp_path / "in" / "b.png"), "", "1", "0.0"],
    ]


def test_has_no_column_without_labels(tmp_path):
    assert list(group_columns(grouped(tmp_path, ["a.png"], [0]))) == ["id", "group", "distance"]


def test_replaces_older_groups_and_nothing_else(tmp_path):
    out = tmp_path / "out"
    for groups in ([0, 1], [0, 0]):
        write_groups(out, grouped(tmp_path / "in", ["a.png", "b.png"], groups), title="title")
    assert not (out / "group-2").exists()
    other = tmp_path / "in"
    for place in (other, other / "a.png"):
        with pytest.raises(SettingError, match="holds something other than groups"):
            check_folder(place)
    (tmp_path / "empty").mkdir()
    check_folder(tmp_path / "empty")
    check_folder(tmp_path / "new")


@pytest.mark.parametrize("protected", ["", "group-1"])
def test_refuses_a_protected_folder(tmp_path, monkeypatch, protected):
    """Before, a part of them could not be removed, and lay in the way of the next."""
    out, answer = tmp_path / "out", grouped(tmp_path / "in", ["a.png"], [0])
    write_groups(out, answer, title="title")
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != out / protected and real(path, mode))
    with pytest.raises(SettingError) as caught:
        write_groups(out, answer, title="title")
    assert str(caught.value).startswith(
        f"{out / protected} may not be written to, so the groups in {out} stay"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


@pytest.mark.skipif(os.name == "nt", reason="no such rights")
def test_a_copy_has_the_rights_of_its_picture(tmp_path):
    out, names = tmp_path / "out", ["a.png"]
    for modes in (0o644, 0o600):
        answer = grouped(tmp_path / "in", names, [0])
        (tmp_path / "in" / "a.png").chmod(modes)
        write_groups(out, answer, title="title")
        assert (out / "group-1" / "a.png").stat().st_mode & 0o777 == modes


def test_a_copy_that_fails_leaves_the_old_groups(tmp_path, monkeypatch):
    out, names = tmp_path / "out", ["a.png", "b.png"]
    write_groups(out, grouped(tmp_path / "in", names, [0, 1]), title="title")
    before = sorted(out.rglob("*"))

    def full(source, place):
        if source.name == "b.png":
            raise OSError(28, "No space left on device", str(place))

    monkeypatch.setattr(shutil, "copy2", full)
    with pytest.raises(OSError, match="No space left"):
        write_groups(out, grouped(tmp_path / "in", names, [0, 0]), title="title")
    assert sorted(out.rglob("*")) == before
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["in", "out"]

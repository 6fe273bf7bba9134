"""A space opened from a folder, and the items it reads."""

import numpy
import pytest

from samekind.errors import DataError
from samekind.questions.opening import OpenSpace, open_space


@pytest.fixture
def files(tmp_path):
    """One point of the class right, one of up, and a file that is none."""
    for name, point in {"right/0": (1, 0), "up/0": (0, 1)}.items():
        path = tmp_path / "files" / f"{name}.npy"
        path.parent.mkdir(parents=True)
        numpy.save(path, numpy.array(point, dtype=numpy.float32))
    (tmp_path / "files" / "up" / "bad.npy").write_text("no array")
    return str(tmp_path / "files")


def test_opens_a_saved_space(plane, tmp_path):
    plane.save(tmp_path / "mine")
    opened = open_space(tmp_path / "mine", "cpu")
    assert (opened.space.classes, opened.name) == (plane.classes, "mine")
    assert opened.trained_on(["digits"]) == ()


def test_reports_skipped_files_to_the_caller_and_prints_nothing(plane, files, tmp_path, capsys):
    reported = []
    opened = OpenSpace(plane, tmp_path, reported.extend)
    items = opened.read_labelled(files, skip_unreadable=True)
    assert (items.classes, items.name, len(items.labels)) == (("right", "up"), "files", 2)
    [(path, why)] = reported
    assert path.endswith("bad.npy")
    assert "cannot read" in why
    assert OpenSpace(plane, tmp_path).read([files], skip_unreadable=True).skipped == tuple(reported)
    assert capsys.readouterr() == ("", "")
    with pytest.raises(DataError, match=r"bad\.npy"):
        opened.read([files])


def test_reads_named_data(plane, tmp_path):
    assert OpenSpace(plane, tmp_path).read_labelled("digits").name == "digits"

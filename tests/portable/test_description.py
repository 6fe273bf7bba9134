"""The folder of an export is not believed."""

import json
import shutil

import numpy as np
import pytest

from samekind.errors import SpaceError
from samekind.portable import PortableSpace
from samekind.portable.description import HEADER, PROTOTYPES, read_description, read_file, read_numbers


@pytest.fixture
def copied(exported, tmp_path):
    return shutil.copytree(exported, tmp_path / "copied")


def changed(folder, change):
    content = json.loads((folder / HEADER).read_text())
    change(content)
    (folder / HEADER).write_text(json.dumps(content))


def test_what_was_written_is_read(exported, known_space):
    description, record = read_description(exported)
    assert description.classes == tuple(known_space.classes)
    assert description.dimension == 5
    assert description.reader == "VectorReader"
    assert record.decisions == known_space.decisions
    assert record.open_set == known_space.open_set
    assert record.choices == known_space.choices


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.update(format="other"),
        lambda content: content.update(version=99),
        lambda content: content.pop("description"),
        lambda content: content.pop("decisions"),
        lambda content: content["description"].update(dimension=-1),
        lambda content: content["description"].update(dimension=6),
        lambda content: content["description"].update(classes=["a"]),
        lambda content: content["description"].update(unknown=1),
        lambda content: content["description"]["kinds"]["cosine"].update(map="../../etc/passwd"),
        lambda content: content["description"].update(reader="Surprise"),
        lambda content: content["description"].update(reading={}),
        lambda content: content["description"]["files"].pop("encoder.onnx"),
    ],
)
def test_a_changed_description_is_refused(copied, change):
    changed(copied, change)
    with pytest.raises(SpaceError):
        PortableSpace.open(copied)


def test_every_file_is_checked(copied):
    description, _ = read_description(copied)
    for name in description.files:
        content = (copied / name).read_bytes()
        (copied / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(SpaceError, match="is not the file it was written with"):
            PortableSpace.open(copied)
        (copied / name).unlink()
        with pytest.raises(SpaceError, match="damaged"):
            PortableSpace.open(copied)
        (copied / name).write_bytes(content)
    PortableSpace.open(copied)


def test_numbers_are_floats_of_the_right_axes(exported):
    description, _ = read_description(exported)
    assert read_numbers(exported, PROTOTYPES, description, axes=3).dtype == np.float32
    with pytest.raises(SpaceError, match="holds float32 of shape"):
        read_numbers(exported, PROTOTYPES, description, axes=2)
    with pytest.raises(SpaceError, match="cannot be read"):
        read_numbers(exported, "encoder.onnx", description, axes=2)
    assert read_file(exported, PROTOTYPES, description)


def test_other_folders_are_named(tmp_path):
    with pytest.raises(SpaceError, match="no exported space"):
        PortableSpace.open(tmp_path / "missing")
    with pytest.raises(SpaceError, match=r"has no export\.json"):
        PortableSpace.open(tmp_path)

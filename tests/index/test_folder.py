"""The folder of an index: whole, or refused by a sentence that names what is wrong."""

import json
import shutil

import pytest

from samekind.errors import SpaceError
from samekind.index import folder as folders


def write(place, content="text"):
    folders.write(
        place, {"kind": "Made"}, files=["one"], fill=lambda draft: (draft / "one").write_text(content)
    )


def read(place):
    return folders.read(place, kind="Made", files=["one"])


@pytest.fixture
def place(tmp_path):
    write(tmp_path / "index")
    return tmp_path / "index"


def change(place, **values):
    header = json.loads((place / "index.json").read_text())
    (place / "index.json").write_text(json.dumps(header | values))


def test_what_was_written_is_read(place):
    assert read(place)["kind"] == "Made"
    assert folders.is_index(place)
    assert not folders.is_index(place.parent)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda it: shutil.rmtree(it), "there is no index at"),
        (lambda it: (it / "index.json").unlink(), "is not an index: it has no index.json"),
        (lambda it: (it / "one").unlink(), "is damaged: one is missing"),
        (lambda it: (it / "one").write_text("texz"), "is damaged: one is not the file it was saved with"),
        (lambda it: (it / "index.json").write_text("{"), "is damaged: index.json cannot be read"),
        (lambda it: (it / "index.json").write_bytes(b"\xff\xfe"), "is damaged: index.json cannot be read"),
        (lambda it: (it / "index.json").write_text("[]"), "written by something else"),
        (lambda it: change(it, format="other"), "written by something else"),
        (lambda it: change(it, version="1"), "has no version"),
        (lambda it: change(it, version=2), r"newer samekind \(format 2"),
        (lambda it: change(it, kind="Other"), "an index of another kind: Other, not Made"),
        (lambda it: change(it, files=None), "is damaged: one is not the file"),
    ],
)
def test_damage_is_named(place, damage, says):
    damage(place)
    with pytest.raises(SpaceError, match=says):
        read(place)


def test_an_older_index_is_replaced_and_anything_else_is_not(place):
    write(place, "new")
    assert (place / "one").read_text() == "new"
    (place / "mine.txt").write_text("do not touch")
    with pytest.raises(SpaceError, match="holds something else than an index"):
        write(place)
    assert (place / "one").read_text() == "new"
    (place.parent / "file").write_text("in the way")
    with pytest.raises(SpaceError, match="holds something else than an index"):
        write(place.parent / "file")


def test_a_write_that_fails_leaves_the_old_one(place):
    def fill(draft):
        (draft / "one").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        folders.write(place, {"kind": "Made"}, files=["one"], fill=fill)
    assert (place / "one").read_text() == "text"
    assert [each.name for each in place.parent.iterdir()] == ["index"]


def test_a_process_that_died_between_two_renames_is_made_good(place):
    place.rename(place.with_name(".index.old"))
    assert folders.is_index(place)
    assert read(place)["kind"] == "Made"

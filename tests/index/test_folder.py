"""The folder of an index: whole, or refused by a sentence that names the fault."""

import errno
import json
import shutil
from pathlib import Path

import pytest

from samekind import storage
from samekind.errors import SettingError, SpaceError
from samekind.index import folder as folders


def write(place, content="text", *, notes=None):
    return folders.write(
        place,
        {"kind": "Made", "notes": notes},
        files=["ids.txt"],
        fill=lambda place: place("ids.txt").write_text(content),
    )


def read(place, **settings):
    return folders.read(place, backend="Made", files=["ids.txt"], **settings)


@pytest.fixture
def place(tmp_path):
    write(tmp_path / "index")
    return tmp_path / "index"


def change(place, **values):
    header = json.loads((place / "index.json").read_text())
    (place / "index.json").write_text(json.dumps(header | values))


def names(place):
    return sorted(path.name for path in place.iterdir())


def test_what_was_written_is_read(place):
    assert read(place)["kind"] == "Made"
    assert folders.read(place)["kind"] == "Made"
    assert folders.is_index(place)
    assert not folders.is_index(place.parent)
    assert names(place) == ["ids.1.txt", "index.json", "journal.1.log"]


def test_a_folder_without_files_has_no_journal(tmp_path):
    folders.write(tmp_path / "index", {"kind": "Made"})
    assert names(tmp_path / "index") == ["index.json"]
    assert folders.read(tmp_path / "index", backend="Made")["generation"] == 1


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda it: shutil.rmtree(it), "there is no index at"),
        (lambda it: (shutil.rmtree(it), it.mkdir()), "is not an index: it has no index.json"),
        (
            lambda it: (it / "index.json").unlink(),
            "is a half-written index: its first save was cut short",
        ),
        (lambda it: (it / "ids.1.txt").unlink(), "is damaged: ids.1.txt is missing"),
        (lambda it: (it / "ids.1.txt").write_text("texz"), "ids.1.txt is not the file it was saved with"),
        (lambda it: (it / "ids.1.txt").write_text("tex"), "ids.1.txt is not the file it was saved with"),
        (lambda it: (it / "index.json").write_text("{"), "is damaged: index.json cannot be read"),
        (lambda it: (it / "index.json").write_bytes(b"\xff\xfe"), "is damaged: index.json cannot be read"),
        (lambda it: (it / "index.json").write_text("[]"), "has another format"),
        (lambda it: change(it, format="other"), "has another format"),
        (lambda it: change(it, version="1"), "has no version"),
        (
            lambda it: change(it, version=1),
            r"saved by an older samekind \(format 1, this one reads 2 and later\)",
        ),
        (lambda it: change(it, version=4), r"newer samekind \(format 4"),
        (lambda it: change(it, kind="Other"), "an index of another backend: Other, not Made"),
        (lambda it: change(it, files=None), "index.json does not name ids.txt"),
        (lambda it: change(it, files={"ids.txt": "x"}), "index.json does not name ids.txt"),
        (lambda it: change(it, generation=None), "index.json has no generation"),
        (lambda it: change(it, generation=2), r"ids.2.txt is missing"),
    ],
)
def test_damage_is_named(place, damage, says):
    damage(place)
    with pytest.raises(SpaceError, match=says):
        read(place)


@pytest.mark.parametrize(
    "left", ["lock", ".draft.0a1b2c3d/vectors.npy", ".index.json.0a1b.draft", "ids.1.txt"]
)
def test_the_leftovers_of_a_killed_first_save_are_a_half_written_index(tmp_path, left):
    place = tmp_path / "index"
    (place / left).parent.mkdir(parents=True)
    (place / left).touch()
    with pytest.raises(SpaceError, match="is a half-written index: its first save was cut short"):
        read(place)
    write(place)  # and can be saved to again
    assert read(place)["generation"] > 0


def test_a_lock_among_foreign_files_is_not_an_index(tmp_path):
    (tmp_path / "lock").touch()
    (tmp_path / "notes.txt").touch()
    with pytest.raises(SpaceError, match=r"is not an index: it has no index.json"):
        read(tmp_path)


def test_a_large_mapped_file_is_hashed_only_to_verify(tmp_path, monkeypatch):
    def fill(place):
        place("vectors.npy").write_text("a" * 100)
        place("rows.npy").write_text("a" * 100)

    def mapped(**settings):
        return folders.read(tmp_path / "index", files=["vectors.npy", "rows.npy"], **settings)

    folders.write(tmp_path / "index", {}, files=["vectors.npy", "rows.npy"], fill=fill)
    (tmp_path / "index" / "vectors.1.npy").write_text("b" * 100)
    with pytest.raises(SpaceError, match=r"vectors.1.npy is not the file"):
        mapped()
    monkeypatch.setattr(folders, "LARGE", 99)
    mapped()
    with pytest.raises(SpaceError, match=r"vectors.1.npy is not the file"):
        mapped(verify=True)
    (tmp_path / "index" / "vectors.1.npy").write_text("b" * 99)
    with pytest.raises(SpaceError, match=r"vectors.1.npy is not the file"):
        mapped()
    (tmp_path / "index" / "vectors.1.npy").write_text("b" * 100)
    (tmp_path / "index" / "rows.1.npy").write_text("b" * 100)
    with pytest.raises(SpaceError, match=r"rows.1.npy is not the file"):
        mapped()


def test_an_older_index_is_replaced_and_anything_else_is_not(place):
    assert write(place, "new")["generation"] == 2
    assert names(place) == ["ids.2.txt", "index.json", "journal.2.log"]
    assert (place / "ids.2.txt").read_text() == "new"
    for name in ("mine.txt", "notes.1.txt", "ids.x.txt", "vectors.1.npy.bak"):
        (place / name).write_text("do not touch")
        with pytest.raises(SpaceError, match="holds something other than an index"):
            write(place)
        (place / name).unlink()
    assert (place / "ids.2.txt").read_text() == "new"
    (place.parent / "file").write_text("in the way")
    with pytest.raises(SpaceError, match="holds something other than an index"):
        write(place.parent / "file")


def test_replaces_an_index_of_the_first_format(tmp_path):
    for name in ("index.json", "items.jsonl", "vectors.safetensors"):
        (tmp_path / name).write_text("old")
    write(tmp_path)
    assert names(tmp_path) == ["ids.1.txt", "index.json", "journal.1.log"]


def test_a_write_that_fails_leaves_the_old_one(place):
    def fill(place):
        place("ids.txt").write_text("half")
        raise KeyboardInterrupt

    before = names(place)
    with pytest.raises(KeyboardInterrupt):
        folders.write(place, {"kind": "Made"}, files=["ids.txt"], fill=fill)
    with pytest.raises(SettingError, match="notes are what JSON can hold"):
        write(place, notes={"a": object()})
    assert names(place) == before
    assert read(place)
    with pytest.raises(KeyboardInterrupt):
        folders.write(place.parent / "new", {"kind": "Made"}, files=["ids.txt"], fill=fill)
    assert names(place.parent) == ["index"]


def test_a_write_interrupted_after_the_rename_is_done(place, monkeypatch):
    real = storage.write_text

    def interrupted(path, text):
        real(path, text)
        raise KeyboardInterrupt

    monkeypatch.setattr(storage, "write_text", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(place, "new")
    assert read(place)["generation"] == 2


def test_files_stay_if_the_header_cannot_be_read(place, monkeypatch):
    """A regression: its files were removed, and the header that names them stayed."""
    real, read_text = storage.write_text, Path.read_text

    def full(*_, **__):
        raise OSError(errno.EMFILE, "Too many open files")

    def interrupted(path, text):
        real(path, text)
        monkeypatch.setattr(Path, "read_text", full)
        raise KeyboardInterrupt

    monkeypatch.setattr(storage, "write_text", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(place, "new")
    monkeypatch.setattr(Path, "read_text", read_text)
    assert read(place)["generation"] == 2


def test_what_a_killed_process_left_goes_with_the_next_save(place):
    (place / ".draft.0123abcd").mkdir()
    (place / ".draft.0123abcd" / "ids.txt").write_text("half")
    (place / "ids.7.txt").write_text("of a generation that was never named")
    assert read(place)["generation"] == 1
    assert write(place)["generation"] == 8
    assert names(place) == ["ids.8.txt", "index.json", "journal.8.log"]


def test_tidying_leaves_the_generation_in_force_and_all_of_a_damaged_index(place):
    (place / "ids.7.txt").write_text("half")
    whole = (place / "index.json").read_text()
    (place / "index.json").write_text("{")
    folders.tidy(place)
    assert "ids.7.txt" in names(place)
    (place / "index.json").write_text(whole)
    folders.tidy(place)
    assert names(place) == ["ids.1.txt", "index.json", "journal.1.log"]

"""Files and folders that are written whole or not at all, whatever goes wrong on the way."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind import storage
from samekind.errors import SpaceError

OLD, NEW = b"old", b"the new content"


class BrokenError(Exception):
    """What the tests let go wrong."""


def names(folder):
    return sorted(each.name for each in folder.iterdir())


def content(folder):
    """Everything in a folder, by relative path."""
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def fill_with(value):
    """Two files that must be of one writing, one of them in a folder of its own."""

    def fill(draft):
        (draft / "first").write_bytes(value)
        (draft / "inside").mkdir()
        (draft / "inside" / "second").write_bytes(value)

    return fill


def failing_at(monkeypatch, owner, name, call):
    """Let the given call of a function raise instead of doing anything."""
    calls, real = [], getattr(owner, name)

    def function(*arguments, **options):
        calls.append(arguments)
        if len(calls) == call:
            raise BrokenError(f"{name}, call {call}")
        return real(*arguments, **options)

    monkeypatch.setattr(owner, name, function)


# --- files ------------------------------------------------------------------------------------------


@settings(max_examples=20)
@given(before=st.none() | st.binary(max_size=20), after=st.binary(max_size=20))
def test_a_file_holds_what_was_written_last_and_nothing_lies_beside_it(tmp_path_factory, before, after):
    path = tmp_path_factory.mktemp("files") / "inside" / "deep" / "file.bin"
    if before is not None:
        storage.write_bytes(path, before)
    storage.write_bytes(path, after)
    assert path.read_bytes() == after
    assert names(path.parent) == ["file.bin"]


def test_a_text_is_written_as_utf8_with_its_line_ends(tmp_path):
    text = "größer, 日本\nsecond line\r\n"
    storage.write_text(tmp_path / "text", text)
    assert (tmp_path / "text").read_bytes() == text.encode("utf-8")


@pytest.mark.parametrize(("owner", "name"), [(os, "fsync"), (Path, "replace")])
def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch, owner, name):
    path = tmp_path / "file"
    path.write_bytes(OLD)
    failing_at(monkeypatch, owner, name, 1)
    with pytest.raises(BrokenError):
        storage.write_bytes(path, NEW)
    assert path.read_bytes() == OLD
    assert names(tmp_path) == ["file"]


def test_a_file_is_on_the_disk_before_it_takes_the_name(tmp_path, monkeypatch):
    happened = []
    real_sync, real_replace = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (happened.append("flush"), real_sync(handle))[1])
    monkeypatch.setattr(Path, "replace", lambda *two: (happened.append("rename"), real_replace(*two))[1])
    storage.write_bytes(tmp_path / "file", NEW)
    assert happened == ["flush", "rename", "flush"]  # the file, its new name, and the folder that lists it


# --- folders ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("exists", [False, True])
def test_a_folder_holds_what_was_filled_in_and_no_more(tmp_path, exists):
    folder = tmp_path / "deep" / "folder"
    if exists:
        folder.mkdir(parents=True)
        (folder / "left over").write_bytes(OLD)
    storage.write_folder(folder, fill_with(NEW))
    assert content(folder) == {"first": NEW, "inside/second": NEW}
    assert names(folder.parent) == ["folder"]


def test_what_is_filled_is_a_draft_and_the_old_folder_is_there_meanwhile(tmp_path):
    folder = tmp_path / "folder"
    storage.write_folder(folder, fill_with(OLD))

    def fill(draft):
        assert names(draft) == []
        assert draft.parent == folder.parent  # a rename is one step only within one disk
        assert content(folder) == {"first": OLD, "inside/second": OLD}

    storage.write_folder(folder, fill)
    assert names(folder) == []


@pytest.mark.parametrize(
    ("owner", "name", "call"),
    [
        (Path, "mkdir", 2),  # the draft
        (Path, "write_bytes", 1),
        (Path, "write_bytes", 2),
        (os, "fsync", 1),
        (os, "fsync", 2),
        (os, "fsync", 3),
        (Path, "rename", 1),  # the old one aside
        (Path, "rename", 2),  # the draft in its place
    ],
)
def test_a_folder_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch, owner, name, call):
    folder = tmp_path / "folder"
    storage.write_folder(folder, fill_with(OLD))
    failing_at(monkeypatch, owner, name, call)
    with pytest.raises(BrokenError, match=name):
        storage.write_folder(folder, fill_with(NEW))
    assert content(folder) == {"first": OLD, "inside/second": OLD}
    assert names(tmp_path) == ["folder"]


def test_an_interrupt_is_no_different(tmp_path):
    folder = tmp_path / "folder"
    storage.write_folder(folder, fill_with(OLD))

    def fill(draft):
        fill_with(NEW)(draft)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        storage.write_folder(folder, fill)
    assert content(folder) == {"first": OLD, "inside/second": OLD}
    assert names(tmp_path) == ["folder"]


def test_a_link_stays_a_link_and_what_it_points_to_is_replaced(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    for value in (OLD, NEW):
        storage.write_folder(link, fill_with(value))
        assert content(tmp_path / "elsewhere") == {"first": value, "inside/second": value}
    assert link.is_symlink()
    assert names(tmp_path) == ["elsewhere", "link"]


def test_a_relative_folder_will_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    storage.write_folder(Path("folder"), fill_with(NEW))
    assert names(tmp_path) == ["folder"]


# --- recovery ---------------------------------------------------------------------------------------


def test_a_folder_left_aside_is_brought_back(tmp_path):
    fill_with(OLD)(_made(tmp_path / ".folder.old"))
    storage.recover_folder(tmp_path / "folder")
    assert content(tmp_path / "folder") == {"first": OLD, "inside/second": OLD}
    assert names(tmp_path) == ["folder"]


def test_one_left_aside_beside_the_new_one_is_removed(tmp_path):
    fill_with(OLD)(_made(tmp_path / ".folder.old"))
    fill_with(NEW)(_made(tmp_path / "folder"))
    storage.recover_folder(tmp_path / "folder")
    assert content(tmp_path / "folder") == {"first": NEW, "inside/second": NEW}
    assert names(tmp_path) == ["folder"]


def test_recovery_touches_nothing_else(tmp_path):
    for name in ("folder", ".folders.old", ".folder.abc.draft"):
        _made(tmp_path / name)
    storage.recover_folder(tmp_path / "folder")
    storage.recover_folder(tmp_path / "missing")
    assert names(tmp_path) == [".folder.abc.draft", ".folders.old", "folder"]


def test_a_new_writing_begins_with_recovery(tmp_path):
    fill_with(OLD)(_made(tmp_path / ".folder.old"))

    def fill(draft):
        raise BrokenError

    with pytest.raises(BrokenError):
        storage.write_folder(tmp_path / "folder", fill)
    assert content(tmp_path / "folder") == {"first": OLD, "inside/second": OLD}


def _made(folder):
    folder.mkdir()
    return folder


# --- death ------------------------------------------------------------------------------------------

# Writes the folder again and again, each time with another number in both files.
WRITER = """
import os, shutil, sys
from pathlib import Path
from samekind import storage

def fill_with(value):
    def fill(draft):
        (draft / "first").write_text(value)
        (draft / "second").write_text(value)
    return fill

folder = Path(sys.argv[1])
"""
FOREVER = """
for value in range(10**9):
    storage.write_folder(folder, fill_with(f"{value}" * 1000))
"""
# Dies, without any clean-up, at a chosen call of a chosen function: before it, or right after.
ONCE = """
owner, name = {"rename": (Path, "rename"), "fsync": (os, "fsync"), "rmtree": (shutil, "rmtree")}[sys.argv[2]]
calls, real = [], getattr(owner, name)

def function(*arguments, **options):
    calls.append(arguments)
    if len(calls) == int(sys.argv[3]) and sys.argv[4] == "before":
        os._exit(9)
    done = real(*arguments, **options)
    if len(calls) == int(sys.argv[3]):
        os._exit(9)
    return done

setattr(owner, name, function)
storage.write_folder(folder, fill_with("new"))
"""


def test_a_process_killed_at_any_moment_leaves_a_whole_folder(tmp_path):
    folder, seen = tmp_path / "folder", set()
    storage.write_folder(
        folder, lambda draft: [(draft / each).write_text("") for each in ("first", "second")]
    )
    for moment in (0.0, 0.003, 0.01, 0.02, 0.05):
        before = (folder / "first").read_text()
        process = subprocess.Popen([sys.executable, "-c", WRITER + FOREVER, folder])
        while _first(folder) in (before, None):  # until it writes
            assert process.poll() is None
            time.sleep(0.001)
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        process.wait()
        storage.recover_folder(folder)
        assert names(folder) == ["first", "second"]
        assert (folder / "first").read_text() == (folder / "second").read_text()
        seen.add((folder / "first").read_text())
    assert len(seen) > 1


def _first(folder):
    try:
        return (folder / "first").read_text()
    except FileNotFoundError:  # between the two renames
        return None


@pytest.mark.parametrize(
    ("name", "call", "when", "left"),
    [
        ("fsync", 1, "before", "old"),
        ("rename", 1, "before", "old"),
        ("rename", 1, "after", "old"),
        ("rename", 2, "before", "old"),
        ("rename", 2, "after", "new"),
        ("rmtree", 2, "before", "new"),
        ("rmtree", 2, "after", "new"),
    ],
)
def test_a_process_that_dies_at_a_step_leaves_the_old_folder_or_the_new(tmp_path, name, call, when, left):
    folder = tmp_path / "folder"
    folder.mkdir()
    for each in ("first", "second"):
        (folder / each).write_text("old")
    script = [sys.executable, "-c", WRITER + ONCE, folder, name, str(call), when]
    assert subprocess.run(script, check=False).returncode == 9
    storage.recover_folder(folder)
    assert content(folder) == {"first": left.encode(), "second": left.encode()}
    # And what the dead left behind is in nobody's way.
    storage.write_folder(folder, fill_with(NEW))
    assert content(folder) == {"first": NEW, "inside/second": NEW}
    assert [each for each in names(tmp_path) if not each.endswith(".draft")] == ["folder"]
    shutil.rmtree(tmp_path)


@pytest.mark.parametrize("method", ["open", "mkdir"])
def test_what_cannot_be_written_is_named_and_not_its_draft(tmp_path, monkeypatch, method):
    wanted, real = tmp_path / "wanted", getattr(Path, method)

    def refuse(path, *arguments, **more):
        if path.name.endswith(".draft"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *arguments, **more)

    monkeypatch.setattr(Path, method, refuse)
    with pytest.raises(PermissionError) as refused:
        storage.write_bytes(wanted, NEW) if method == "open" else storage.write_folder(
            wanted, lambda draft: None
        )
    assert refused.value.filename == str(wanted)
    assert names(tmp_path) == []


# --- folders of ours ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "is not a thing: it has no thing.json"),
        ("{", "is damaged: thing.json cannot be read"),
        ("[]", "is not a thing: thing.json was written by something else"),
        ('{"format": "other", "version": 1}', "was written by something else"),
        ('{"format": "thing"}', "is damaged: thing.json has no version"),
        ('{"format": "thing", "version": 3}', r"newer samekind \(format 3, this one reads up to 2\)"),
    ],
)
def test_a_header_that_is_none_is_refused(tmp_path, content, says):
    if content is not None:
        (tmp_path / "thing.json").write_text(content)
    with pytest.raises(SpaceError, match=says):
        storage.read_header(tmp_path, name="thing.json", what="a thing", form="thing", version=2)


def test_a_header_is_what_was_written_and_a_missing_folder_is_named(tmp_path):
    options = {"name": "thing.json", "what": "a thing", "form": "thing", "version": 2}
    (tmp_path / "thing.json").write_text('{"format": "thing", "version": 1, "more": 5}')
    assert storage.read_header(tmp_path, **options) == {"format": "thing", "version": 1, "more": 5}
    with pytest.raises(SpaceError, match=r"there is no thing at .*none; expected a folder with thing\.json"):
        storage.read_header(tmp_path / "none", **options)


def test_a_folder_holds_something_else_where_a_file_has_another_name(tmp_path):
    assert not storage.holds_something_else(tmp_path, {"a"})
    (tmp_path / "a").touch()
    assert not storage.holds_something_else(tmp_path, {"a", "b"})
    assert storage.holds_something_else(tmp_path, {"b"})
    assert storage.holds_something_else(tmp_path / "a", {"a"})  # a file is no folder

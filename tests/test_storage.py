"""Files and folders that are written whole or not at all, whatever goes wrong on the way."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
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
    return sorted(path.name for path in folder.iterdir())


def content(folder):
    """Everything in a folder, by relative path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


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
def test_a_file_holds_what_was_written_last_without_leftovers(tmp_path_factory, before, after):
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


def test_a_file_is_flushed_before_the_rename(tmp_path, monkeypatch):
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


def test_the_old_folder_stays_while_a_draft_is_filled(tmp_path):
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


def test_an_interrupt_leaves_the_old_folder(tmp_path):
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


def test_a_folder_may_be_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    storage.write_folder(Path("folder"), fill_with(NEW))
    assert names(tmp_path) == ["folder"]


# --- recovery ---------------------------------------------------------------------------------------


def test_a_folder_left_aside_is_brought_back(tmp_path):
    fill_with(OLD)(_made(tmp_path / ".folder.old"))
    storage.recover_folder(tmp_path / "folder")
    assert content(tmp_path / "folder") == {"first": OLD, "inside/second": OLD}
    assert names(tmp_path) == ["folder"]


def test_an_old_folder_beside_the_new_one_is_removed(tmp_path):
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
    (tmp_path / "file").touch()
    storage.recover_folder(tmp_path / "file" / "folder")
    (tmp_path / "file").unlink()
    assert names(tmp_path) == [".folder.abc.draft", ".folders.old", "folder"]


def test_writing_begins_with_recovery(tmp_path):
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
        folder, lambda draft: [(draft / name).write_text("") for name in ("first", "second")]
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
        ("rmtree", 1, "before", "new"),
        ("rmtree", 1, "after", "new"),
    ],
)
def test_a_process_that_dies_at_a_step_leaves_the_old_folder_or_the_new(tmp_path, name, call, when, left):
    folder = tmp_path / "folder"
    folder.mkdir()
    for file in ("first", "second"):
        (folder / file).write_text("old")
    script = [sys.executable, "-c", WRITER + ONCE, folder, name, str(call), when]
    assert subprocess.run(script, check=False).returncode == 9
    storage.recover_folder(folder)
    assert content(folder) == {"first": left.encode(), "second": left.encode()}
    # And what the dead left behind goes with the next writing.
    storage.write_folder(folder, fill_with(NEW))
    assert content(folder) == {"first": NEW, "inside/second": NEW}
    assert names(tmp_path) == ["folder"]
    shutil.rmtree(tmp_path)


@pytest.mark.parametrize(("owner", "name"), [(os, "open"), (Path, "mkdir")])
def test_an_error_names_the_file_and_not_its_draft(tmp_path, monkeypatch, owner, name):
    wanted, real = tmp_path / "wanted", getattr(owner, name)

    def refuse(path, *arguments, **more):
        if str(path).endswith(".draft"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *arguments, **more)

    monkeypatch.setattr(owner, name, refuse)
    with pytest.raises(PermissionError) as refused:
        storage.write_bytes(wanted, NEW) if owner is os else storage.write_folder(wanted, lambda draft: None)
    assert refused.value.filename == str(wanted)
    assert names(tmp_path) == []


# --- what the dead leave ------------------------------------------------------------------------------

# Writes a file or a folder; in the middle of it says so, and waits to be killed or told to go on.
SLOW = """
import os, sys
from pathlib import Path
from samekind import storage

def wait():
    print("begun", flush=True)
    sys.stdin.readline()

target, real = Path(sys.argv[1]), os.fsync
if sys.argv[2] == "file":
    calls = []
    os.fsync = lambda handle: (calls.append(handle), len(calls) == 1 and wait(), real(handle))[2]
    storage.write_bytes(target, b"slow")
else:
    storage.write_folder(target, lambda draft: ((draft / "first").write_bytes(b"slow"), wait()))
"""


def slow_writer(target, kind):
    """A process in the middle of its writing, and the draft it has begun."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", SLOW, target, kind], text=True, **pipes)
    assert process.stdout.readline() == "begun\n"
    (draft,) = target.parent.glob(f".{target.name}.*.draft")
    return process, draft


def write(target, kind):
    storage.write_bytes(target, NEW) if kind == "file" else storage.write_folder(target, fill_with(NEW))


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_the_next_writer_removes_drafts_of_dead_processes_only(tmp_path, kind):
    target = tmp_path / "target"
    killed, left = slow_writer(target, kind)
    with killed:
        write(target, kind)
        assert left.exists()  # of a living one
        killed.kill()
    living, begun = slow_writer(target, kind)
    assert not left.exists()  # a process that writes the same removes it
    with living:
        write(target, kind)
        assert begun.exists()
        living.communicate("go on\n")
    assert living.returncode == 0
    assert (target if kind == "file" else target / "first").read_bytes() == b"slow"
    assert names(tmp_path) == ["target"]


def test_drafts_of_other_files_stay(tmp_path):
    others = [
        ".file.0123456.draft",
        ".file.notes123.draft",
        ".file.01234567.draft.txt",
        ".files.01234567.draft",
    ]
    for name in (*others, ".file.01234567.draft"):
        (tmp_path / name).touch()
    storage.write_bytes(tmp_path / "file", NEW)
    assert names(tmp_path) == sorted([*others, "file"])


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_without_locks_no_draft_of_another_is_removed(tmp_path, without_locks, kind):
    left = tmp_path / ".target.01234567.draft"
    left.touch() if kind == "file" else left.mkdir()
    write(tmp_path / "target", kind)
    assert names(tmp_path) == [left.name, "target"]


@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize("gone", [True, False])
def test_a_draft_removed_before_it_was_locked_is_begun_again(tmp_path, monkeypatch, kind, gone):
    seen, real = [], storage._lock

    def lock(handle):
        if not seen:
            seen.extend(tmp_path.iterdir())
            if gone:  # removed by then
                seen[0].unlink() if kind == "file" else seen[0].rmdir()
            else:  # about to be
                return False
        return real(handle)

    monkeypatch.setattr(storage, "_lock", lock)
    write(tmp_path / "target", kind)
    assert len(seen) == 1
    assert names(tmp_path) == ["target"]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_an_interrupt_while_a_draft_is_locked_leaves_nothing(tmp_path, monkeypatch, kind):
    """A regression: it stayed locked as long as the process lived, and could not be removed."""
    real = storage._lock

    def lock(handle):
        real(handle)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(storage, "_lock", lock)
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path / "target", kind)
    assert names(tmp_path) == []
    write(tmp_path / "target", kind)
    assert names(tmp_path) == ["target"]


def test_a_lock_whose_taker_was_interrupted_is_free(tmp_path, monkeypatch):
    real = os.write

    def stopped(handle, content):
        real(handle, content)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", stopped)
        with pytest.raises(KeyboardInterrupt):
            storage.FolderLock(tmp_path, "lock")
    storage.FolderLock(tmp_path, "lock").give_back()


def test_a_draft_that_cannot_be_removed_does_not_stop_a_writer(tmp_path, monkeypatch):
    left, real = tmp_path / ".file.01234567.draft", Path.unlink
    left.touch()

    def unlink(path, **options):
        if path == left:
            raise PermissionError(13, "Permission denied", str(path))
        real(path, **options)

    monkeypatch.setattr(Path, "unlink", unlink)
    storage.write_bytes(tmp_path / "file", NEW)
    assert names(tmp_path) == [left.name, "file"]


def test_a_reader_between_two_renames_does_not_stop_the_writer(tmp_path, monkeypatch):
    folder, real, readers = tmp_path / "folder", Path.rename, []
    storage.write_folder(folder, fill_with(OLD))

    def rename(path, target):
        done = real(path, target)
        if path == folder:  # the old one is aside, the new one not there yet
            readers.append(threading.Thread(target=storage.recover_folder, args=(folder,)))
            readers[0].start()
            readers[0].join(0.05)
        return done

    monkeypatch.setattr(Path, "rename", rename)
    storage.write_folder(folder, fill_with(NEW))
    readers[0].join()
    assert content(folder) == {"first": NEW, "inside/second": NEW}
    assert names(tmp_path) == ["folder"]


def test_a_reader_does_not_take_a_living_writer_for_dead(tmp_path, monkeypatch):
    folder, old, asked = tmp_path / "folder", tmp_path / ".folder.old", []
    fill_with(OLD)(_made(old))

    def is_being_written(_):
        asked.append(old.exists())
        if len(asked) == 1:  # no writer; before the reader looks again, one writer ends and one begins
            moved = old.rename(tmp_path / "kept")
            fill_with(OLD)(_made(old))
            shutil.rmtree(moved)
            return False
        fill_with(NEW)(_made(folder))
        return True

    monkeypatch.setattr(storage, "_is_being_written", is_being_written)
    storage.recover_folder(folder)
    assert asked == [True, True]
    assert content(folder) == {"first": NEW, "inside/second": NEW}
    assert names(tmp_path) == ["folder"]


def test_a_reader_does_not_wait_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "PATIENCE", 0.02)
    folder = tmp_path / "folder"
    fill_with(OLD)(_made(tmp_path / ".folder.old"))

    def fill(draft):
        folder.rename(tmp_path / ".folder.old")  # as a writer that is stuck between its renames
        storage.recover_folder(folder)
        assert content(folder) == {"first": OLD, "inside/second": OLD}

    storage.write_folder(folder, fill)


# --- one writer at a time -----------------------------------------------------------------------------

# Takes the lock of a folder, forks if asked to, and waits; the one that was forked says its number, or it.
HOLDER = """
import os, sys, time
from pathlib import Path
from samekind.storage import FolderLock

lock = FolderLock(Path(sys.argv[1]), "lock")
child = os.fork() if sys.argv[2] == "fork" else 0
if child == 0:
    print(os.getpid(), flush=True)
time.sleep(60)
"""


@pytest.fixture
def without_locks(monkeypatch):
    """A drive that has no locks."""

    def flock(handle, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", flock)


def test_a_lock_has_one_holder_until_it_is_given_back(tmp_path):
    first = storage.FolderLock(tmp_path, "lock")
    with pytest.raises(storage.LockedError) as refused:
        storage.FolderLock(tmp_path, "lock")
    assert str(refused.value) == "this very process"
    storage.FolderLock(tmp_path, "another lock").give_back(remove=True)
    assert first.held
    first.give_back()
    assert not first.held
    second = storage.FolderLock(tmp_path, "lock")
    first.give_back(remove=True)  # it has nothing to give any more, and nothing to remove
    assert names(tmp_path) == ["lock"]
    with pytest.raises(storage.LockedError):
        storage.FolderLock(tmp_path, "lock")
    second.give_back(remove=True)
    assert names(tmp_path) == []


@pytest.mark.parametrize("how", ["alone", "fork"])
def test_the_lock_of_a_killed_process_is_free_even_if_its_child_lives(tmp_path, how):
    command = [sys.executable, "-c", HOLDER, tmp_path, how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        last = int(other.stdout.readline())
        try:
            with pytest.raises(storage.LockedError) as refused:
                storage.FolderLock(tmp_path, "lock")
            assert str(refused.value) == f"process {other.pid}"
            other.kill()
            other.wait()
            storage.FolderLock(tmp_path, "lock").give_back()
        finally:
            if how == "fork":
                os.kill(last, signal.SIGKILL)


def test_the_end_of_a_forked_process_does_not_free_the_lock(tmp_path):
    ended = "    sys.exit()\nos.waitpid(child, 0)\nprint('it ended', flush=True)\n"
    script = HOLDER.replace("    print(os.getpid(), flush=True)\n", ended)
    command = [sys.executable, "-c", script, tmp_path, "fork"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "it ended\n"
        with pytest.raises(storage.LockedError):
            storage.FolderLock(tmp_path, "lock")
        other.kill()


def test_a_forked_process_knows_that_it_does_not_have_the_lock(tmp_path):
    script = HOLDER.replace("print(os.getpid(), flush=True)", "print(lock.held, flush=True); sys.exit()")
    script = script.replace("time.sleep(60)", "os.waitpid(child, 0); print(lock.held)")
    command = [sys.executable, "-c", script, tmp_path, "fork"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\nTrue\n"


@pytest.mark.parametrize(
    ("text", "holder"),
    [
        ("", "another process"),
        ("something else altogether", "another process"),
        ("x here", "another process"),
        ("17 elsewhere", "process 17 on elsewhere"),
        (b"\xff\xff \xff", "another process"),
    ],
)
def test_the_holder_is_named_if_known(tmp_path, text, holder):
    lock = storage.FolderLock(tmp_path, "lock")
    (tmp_path / "lock").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(storage.LockedError) as refused:
        storage.FolderLock(tmp_path, "lock")
    assert str(refused.value) == holder
    lock.give_back()


def test_a_lock_on_a_file_that_was_removed_meanwhile_is_taken_again(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    calls, real = [], fcntl.flock

    def flock(handle, operation):
        calls.append(handle)
        if len(calls) == 1:  # the holder before removes the file, between our opening and our locking
            (tmp_path / "lock").unlink()
        return real(handle, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    mine = storage.FolderLock(tmp_path, "lock")
    with pytest.raises(storage.LockedError):
        storage.FolderLock(tmp_path, "lock")
    mine.give_back()


def refused_to_make(monkeypatch, folder):
    """A folder that may be read and not written to; the rights of a test that is run by root say nothing."""
    real = os.open

    def opened(path, flags, *mode, **more):
        if flags & os.O_CREAT and Path(path).parent == folder:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return real(path, flags, *mode, **more)

    monkeypatch.setattr(os, "open", opened)


def test_a_read_only_folder_cannot_be_locked(tmp_path, monkeypatch):
    (tmp_path / "another lock").touch()
    refused_to_make(monkeypatch, tmp_path)
    with pytest.raises(PermissionError) as refused:
        storage.FolderLock(tmp_path, "lock")
    assert refused.value.filename == str(tmp_path / "lock")
    storage.FolderLock(tmp_path, "another lock").give_back()  # of another user


def test_without_locks_every_request_is_granted(tmp_path, without_locks):
    locks = [storage.FolderLock(tmp_path, "lock") for _ in range(2)]
    for lock in locks:
        lock.give_back(remove=True)
    assert names(tmp_path) == []


# --- the only one who replaces a folder ---------------------------------------------------------------


def test_one_at_a_time_replaces_a_folder(tmp_path):
    folder = tmp_path / "folder"
    with storage.sole_writer(folder):
        assert names(tmp_path) == [".folder.lock"]
        (tmp_path / "link").symlink_to(folder)
        for same in (folder, tmp_path / "link", tmp_path / "." / "folder"):
            with pytest.raises(storage.LockedError), storage.sole_writer(same):
                pytest.fail("there were two")
        storage.write_folder(folder, fill_with(NEW))
        with pytest.raises(storage.LockedError), storage.sole_writer(folder):
            pytest.fail("the folder is another one now, and the lock the same")
        with storage.sole_writer(tmp_path / "another"):
            pass
    assert names(tmp_path) == ["folder", "link"]
    with pytest.raises(BrokenError), storage.sole_writer(folder):
        raise BrokenError
    assert names(tmp_path) == ["folder", "link"]


def test_a_killed_writer_does_not_block_the_folder(tmp_path):
    script = HOLDER.replace('"lock")\n', '".folder.lock")\n')
    with subprocess.Popen(
        [sys.executable, "-c", script, tmp_path, "alone"], stdout=subprocess.PIPE, text=True
    ) as other:
        other.stdout.readline()
        with pytest.raises(storage.LockedError), storage.sole_writer(tmp_path / "folder"):
            pytest.fail("there were two")
        other.kill()
        other.wait()
    assert names(tmp_path) == [".folder.lock"]
    with storage.sole_writer(tmp_path / "folder"):
        pass
    assert names(tmp_path) == []


def test_a_folder_with_a_missing_parent_needs_no_lock(tmp_path):
    with storage.sole_writer(tmp_path / "deep" / "folder"):
        assert names(tmp_path) == []


def test_an_error_names_the_folder_and_not_its_lock(tmp_path, monkeypatch):
    refused_to_make(monkeypatch, tmp_path)
    with pytest.raises(PermissionError) as refused, storage.sole_writer(tmp_path / "folder"):
        pytest.fail("it cannot be written")
    assert refused.value.filename == str(tmp_path / "folder")


# --- folders of ours ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "is not a thing: it has no thing.json"),
        ("{", "is damaged: thing.json cannot be read"),
        ("[]", "is not a thing: thing.json has another format"),
        ('{"format": "other", "version": 1}', "has another format"),
        ('{"format": "thing"}', "is damaged: thing.json has no version"),
        ('{"format": "thing", "version": 3}', r"newer samekind \(format 3, this one reads up to 2\)"),
    ],
)
def test_refuses_a_damaged_foreign_or_newer_header(tmp_path, content, says):
    if content is not None:
        (tmp_path / "thing.json").write_text(content)
    with pytest.raises(SpaceError, match=says):
        storage.read_header(tmp_path, name="thing.json", what="a thing", format_name="thing", version=2)


def test_reads_a_header_and_refuses_a_missing_folder(tmp_path):
    options = {"name": "thing.json", "what": "a thing", "format_name": "thing", "version": 2}
    (tmp_path / "thing.json").write_text('{"format": "thing", "version": 1, "more": 5}')
    assert storage.read_header(tmp_path, **options) == {"format": "thing", "version": 1, "more": 5}
    with pytest.raises(SpaceError, match=r"there is no thing at .*none; expected a folder with thing\.json"):
        storage.read_header(tmp_path / "none", **options)


def test_lists_other_files_in_a_folder(tmp_path):
    assert not storage.others_in(tmp_path, {"a"})
    (tmp_path / "a").touch()
    assert not storage.others_in(tmp_path, {"a", "b"})
    assert storage.others_in(tmp_path, {"b"}) == ["a"]
    assert storage.others_in(tmp_path / "a", {"a"}) == ["a"]  # a file is no folder


@pytest.mark.skipif(os.name == "nt", reason="no such rights")
def test_a_replaced_folder_keeps_its_mode_and_not_those_of_its_files(tmp_path):
    seen = []

    def fill(draft):
        seen.append(draft.stat().st_mode & 0o777)
        (draft / "a").write_bytes(NEW)
        (draft / "a").chmod(0o600)  # of something other than what had the name before

    folder = tmp_path / "folder"
    storage.write_folder(folder, fill)
    folder.chmod(0o750)
    (folder / "a").chmod(0o644)
    storage.write_folder(folder, fill)
    assert [seen[1], folder.stat().st_mode & 0o777] == [0o750] * 2
    assert (folder / "a").stat().st_mode & 0o777 == 0o600

"""Durable: what returned is there after kill -9, one writer at a time, and readers beside a writer."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from samekind.errors import SettingError, SpaceError
from samekind.index import Exact, Faiss, durable, open_index
from samekind.index import folder as folders
from samekind.index import store as stores
from samekind.storage import FolderLock

VECTORS = torch.eye(4)
NAMES = ["a", "b", "c", "d"]


@pytest.fixture(params=[Exact, Faiss])
def kind(request):
    return request.param


@pytest.fixture
def folder(kind, tmp_path):
    index = kind(4, score="dot")
    index.add(NAMES[:2], VECTORS[:2])
    index.save(tmp_path / "index")
    return tmp_path / "index"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# --- one writer ---------------------------------------------------------------------------------------


def test_the_first_change_takes_the_right_to_write(folder):
    first, second = open_index(folder), open_index(folder)
    first.add(["c"], VECTORS[2:3])
    with pytest.raises(SpaceError, match="is being written to by this very process"):
        second.add(["d"], VECTORS[3:])
    with pytest.raises(SpaceError, match="is being written to by this very process"):
        second.save(folder)
    assert list(second) == ["a", "b"]
    assert second.search(VECTORS[:1], 1).ids == [["a"]]  # reading needs no right
    assert list(open_index(folder)) == ["a", "b", "c"]
    first.close()
    with pytest.raises(SpaceError, match="was changed by another writer since it was opened here; open it"):
        second.add(["d"], VECTORS[3:])
    with pytest.raises(SpaceError, match="was changed by another writer"):
        second.save(folder)
    first.add(["d"], VECTORS[3:])  # takes it again
    assert list(open_index(folder)) == NAMES


@pytest.mark.parametrize("change", ["add", "save"])
def test_whoever_may_write_removes_what_killed_writers_left(folder, change):
    left = [folders.numbered(name, number) for name in folders.FILES for number in (7, 8)]
    left += [".draft.ab12", ".index.json.0123abcd.draft"]
    for name in left:
        (folder / name).write_bytes(b"half")
    index = open_index(folder)
    assert index.search(VECTORS[:1], 1).ids == [["a"]]
    assert set(left) < set(names(folder))  # a reader removes nothing
    index.add(["c"], VECTORS[2:3]) if change == "add" else index.save(folder)
    assert not set(left) & set(names(folder))
    index.close()
    assert "a" in open_index(folder)


def test_what_others_may_still_write_stays_on_a_drive_without_locks(folder, monkeypatch):
    def flock(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", flock)
    (folder / "ids.7.txt").write_bytes(b"half")
    index = open_index(folder)
    index.add(["c"], VECTORS[2:3])
    assert "ids.7.txt" in names(folder)


def test_works_on_a_drive_without_locks(folder, monkeypatch):
    def flock(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", flock)
    index = open_index(folder)
    index.add(["c"], VECTORS[2:3])
    index.save(folder)
    index.add(["d"], VECTORS[3:])
    assert list(open_index(folder)) == NAMES


def test_reading_writes_nothing(folder):
    writer = open_index(folder)
    writer.add(["c"], VECTORS[2:3], [{"n": 3}])
    writer.close()
    before = {path: path.stat().st_mtime_ns for path in (folder, *folder.iterdir())}
    for path in before:
        path.chmod(0o555 if path == folder else 0o444)
    index = open_index(folder)
    assert index.search(VECTORS[2:3], 1).ids == [["c"]]
    assert index.metadata(["c"]) == [{"n": 3}]
    index.close()
    assert {path: path.stat().st_mtime_ns for path in (folder, *folder.iterdir())} == before
    folder.chmod(0o755)


def test_notices_a_save_by_another_writer(folder):
    first, second = open_index(folder), open_index(folder)
    first.save(folder)
    with pytest.raises(SpaceError, match="was changed by another writer"):
        second.remove(["a"])
    assert list(second) == ["a", "b"]
    assert second.search(VECTORS[1:2], 1).ids == [["b"]]  # the files it reads are gone from the folder
    second.save(folder.with_name("other"))
    second.remove(["a"])
    assert (list(open_index(folder)), list(open_index(folder.with_name("other")))) == (["a", "b"], ["b"])


def test_a_writer_stays_the_writer_when_it_saves(folder):
    writer = open_index(folder)
    writer.add(["c"], VECTORS[2:3])
    writer.save(folder)
    with pytest.raises(SpaceError, match="is being written to"):
        open_index(folder).remove(["a"])
    writer.add(["d"], VECTORS[3:])
    assert list(open_index(folder)) == NAMES


def test_an_index_moves_with_its_last_save(folder):
    index = open_index(folder)
    index.add(["c"], VECTORS[2:3])
    index.save(folder.with_name("new"))
    index.add(["d"], VECTORS[3:])
    assert list(open_index(folder.with_name("new"))) == NAMES
    other = open_index(folder)  # the old one has no writer any more
    other.remove(["a"])
    assert list(open_index(folder)) == ["b", "c"]


def test_saving_empties_the_journal(folder):
    index = open_index(folder)
    index.add(["c"], VECTORS[2:3])
    index.remove(["a"])
    assert (folder / "journal.1.log").stat().st_size > 100
    index.save(folder)
    assert (folder / "journal.2.log").stat().st_size < 50
    assert not (folder / "journal.1.log").exists()
    assert list(open_index(folder)) == ["b", "c"]


def test_a_missing_folder_is_refused_and_can_be_saved_again(folder):
    index = open_index(folder)
    folder.rename(folder.with_name("moved"))
    with pytest.raises(SpaceError, match="there is no index at"):
        index.add(["c"], VECTORS[2:3])
    assert list(index) == ["a", "b"]
    index.save(folder)
    assert list(open_index(folder)) == ["a", "b"]


def test_a_save_that_fails_changes_nothing(folder, monkeypatch):
    index = open_index(folder)
    index.add(["c"], VECTORS[2:3])
    before = names(folder)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(stores.Store, "write", full)
        for place in (folder, folder.with_name("new")):
            with pytest.raises(OSError, match="No space left"):
                index.save(place)
        index.notes["x"] = object()
        with pytest.raises((SettingError, OSError)):
            index.save(folder)
    assert names(folder) == before
    assert names(folder.parent) == ["index"]
    index.notes.clear()
    index.add(["d"], VECTORS[3:])
    assert list(open_index(folder)) == NAMES


def test_goes_on_from_a_save_that_failed_after_it_was_done(folder, monkeypatch):
    """A regression: later additions went to the journal of the generation before, and were lost."""
    index = open_index(folder)
    index.add(["c"], VECTORS[2:3])

    def failing(_):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(folders.storage, "_flush_folder", failing)
        with pytest.raises(OSError, match="Input/output error"):
            index.save(folder)
    index.add(["d"], VECTORS[3:])
    index.remove(["a"])
    assert list(index) == list(open_index(folder)) == ["b", "c", "d"]


def test_the_save_of_another_writer_is_not_taken_for_a_failed_one(folder, monkeypatch):
    index, other = open_index(folder), open_index(folder)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(stores.Store, "write", full)
        with pytest.raises(OSError, match="No space left"):
            index.save(folder)
    other.add(["c"], VECTORS[2:3])
    other.save(folder)  # under the number that the other one had begun
    other.close()
    with pytest.raises(SpaceError, match="was changed by another writer"):
        index.add(["d"], VECTORS[3:])
    with pytest.raises(SpaceError, match="was changed by another writer"):
        index.save(folder)
    assert list(open_index(folder)) == ["a", "b", "c"]


def test_vectors_changed_after_an_interrupt_are_stored_as_given(folder, monkeypatch):
    index, vectors = open_index(folder), VECTORS[2:3].clone()
    real = stores.Store.count

    def stopped(*_, **__):
        monkeypatch.setattr(stores.Store, "count", real)
        raise KeyboardInterrupt

    monkeypatch.setattr(stores.Store, "count", stopped)
    with pytest.raises(KeyboardInterrupt):
        index.add(["c"], vectors)
    vectors.fill_(7)
    index.add(["d"], VECTORS[3:])
    assert torch.equal(index.vectors(), VECTORS)
    assert torch.equal(open_index(folder).vectors(), VECTORS)


def test_vectors_changed_after_an_interrupt_are_finished_as_given(folder, monkeypatch):
    """The entry is whole, and is known again though the caller's numbers are others by now."""
    index, vectors = open_index(folder), VECTORS[2:3].clone()

    def stopped(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", stopped)
        with pytest.raises(KeyboardInterrupt):
            index.add(["c"], vectors)
    vectors.fill_(7)
    assert torch.equal(index.vectors(), VECTORS[:3])
    assert torch.equal(open_index(folder).vectors(), VECTORS[:3])


def test_the_next_call_gives_back_a_lock_whose_release_was_interrupted(folder, monkeypatch):
    """A regression: the traceback held the lock for as long as it was kept."""
    index = open_index(folder)
    index.add(["c"], VECTORS[2:3])

    def stopped(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(FolderLock, "give_back", stopped)
        with pytest.raises(KeyboardInterrupt) as caught:
            index.close()
    assert caught.traceback
    index.add(["d"], VECTORS[3:])
    index.close()
    open_index(folder).remove(["a"])


def test_an_addition_that_cannot_be_recorded_is_not_made(folder, monkeypatch):
    index = open_index(folder)
    index.add(["c"], VECTORS[2:3])

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            index.add(["d"], VECTORS[3:])
    assert list(index) == list(open_index(folder)) == ["a", "b", "c"]
    index.add(["d"], VECTORS[3:])
    assert list(open_index(folder)) == NAMES


# --- a process that is forked -------------------------------------------------------------------------

# Adds as the writer of an index, forks, and says what becomes of the changes on both sides.
FORKED = """
import os, sys, torch
from samekind.errors import SpaceError
from samekind.index import open_index

folder, one = sys.argv[1], torch.ones(1, 4)

def tried(change, *arguments):
    try:
        change(*arguments)
        print("done", flush=True)
    except SpaceError as error:
        print(str(error).replace(str(os.getppid()), "PARENT"), flush=True)

def forked(body):
    child = os.fork()
    if not child:
        body()
        os._exit(0)
    os.waitpid(child, 0)

def changes():
    tried(index.add, ["of the child"], one)
    tried(index.remove, ["a"])
    tried(index.save, folder)
    print(*index, flush=True)

index = open_index(folder)
index.add(["c"], one)
forked(changes)
index.add(["d"], one)
index.close()
forked(lambda: tried(index.add, ["e"], one))
tried(index.add, ["f"], one)
"""


def test_a_forked_process_does_not_write_beside_its_parent(folder):
    """A regression: it wrote where the journal had ended at the fork, over later additions."""
    command = [sys.executable, "-c", FORKED, folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    refused = (
        f"{folder} is being written to by process PARENT; an index has one writer at a time: "
        "wait for the other one to end, or close it"
    )
    assert done.stdout.splitlines() == [
        *[refused] * 3,
        "a b c",
        "done",  # the parent has given the right back, and the child has seen all it did
        f"{folder} was changed by another writer since it was opened here; open it again",
    ]
    assert list(open_index(folder)) == ["a", "b", "c", "d", "e"]


# A save fails; then the parent saves under the number that it had begun, and the child goes on.
FORKED_AFTER_A_FAILED_SAVE = """
import os, sys, torch
from samekind.errors import SpaceError
from samekind.index import open_index, store as stores

folder, one = sys.argv[1], torch.ones(1, 4)

def full(*_):
    raise OSError(28, "No space left on device")

index = open_index(folder)
index.add(["c"], one)
real, stores.Store.write = stores.Store.write, full
try:
    index.save(folder)
except OSError as error:
    print(error.strerror, flush=True)
stores.Store.write = real
wait, go = os.pipe()
child = os.fork()
if not child:
    os.read(wait, 1)
    if sys.argv[2] == "closed":
        index.close()
    for change in (lambda: index.add(["of the child"], one), lambda: index.save(folder)):
        try:
            change()
            print("done", flush=True)
        except SpaceError as error:
            print(error, flush=True)
    os._exit(0)
index.add(["of the parent"], one)
index.save(folder)
index.close()
os.write(go, b"x")
os.waitpid(child, 0)
"""


@pytest.mark.parametrize("how", ["as it is", "closed"])
def test_a_forked_process_does_not_take_its_parents_save_for_its_own(folder, how):
    """A regression: it went on from there with its own state, and additions of the parent were lost."""
    command = [sys.executable, "-c", FORKED_AFTER_A_FAILED_SAVE, folder, how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    refused = f"{folder} was changed by another writer since it was opened here; open it again"
    assert done.stdout.splitlines() == ["No space left on device", refused, refused]
    assert list(open_index(folder)) == ["a", "b", "c", "of the parent"]


def test_a_reader_of_an_entry_that_could_not_be_flushed_may_not_write(folder, monkeypatch):
    """A regression: it filled the journal up with zeros, and wrote behind them."""
    index, readers = open_index(folder), []

    def failing(_):
        readers.append(open_index(folder))
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", failing)
        with pytest.raises(OSError, match="Input/output error"):
            index.add(["c"], VECTORS[2:3])
    index.close()
    [reader] = readers
    assert list(reader) == ["a", "b", "c"]
    with pytest.raises(SpaceError, match="was changed by another writer"):
        reader.add(["d"], VECTORS[3:])
    assert list(index) == list(open_index(folder)) == ["a", "b"]


# --- what the disk may hold -----------------------------------------------------------------------------


def test_an_addition_that_was_cut_short_is_dropped(folder):
    index = open_index(folder)
    index.add(["c"], VECTORS[2:3])
    path = folder / "journal.1.log"
    before = path.stat().st_size
    index.add(["d"], VECTORS[3:])
    index.close()
    whole = path.read_bytes()
    for size in range(before, len(whole), 7):
        path.write_bytes(whole[:size])
        assert list(open_index(folder)) == ["a", "b", "c"]
    again = open_index(folder)
    again.remove(["a"])
    assert list(open_index(folder)) == ["b", "c"]


def test_a_damaged_or_missing_journal_is_named(folder):
    index = open_index(folder)
    index.add(["c", "d"], VECTORS[2:])
    index.close()
    path = folder / "journal.1.log"
    content = bytearray(path.read_bytes())
    content[40] ^= 1
    path.write_bytes(content)
    with pytest.raises(SpaceError, match=r"is damaged: journal.1.log is not as it was written, from byte 19"):
        open_index(folder)
    path.unlink()
    with pytest.raises(SpaceError, match=r"is damaged: journal.1.log is missing"):
        open_index(folder)


@pytest.mark.parametrize("name", ["dimension", "score", "fingerprint", "count", "notes"])
def test_refuses_a_header_with_a_missing_key(folder, name):
    header = folders.read(folder)
    del header[name]
    folders.storage.write_text(folder / "index.json", json.dumps(header))
    with pytest.raises(SpaceError, match=f"is damaged: .*{name}.*make the index again"):
        open_index(folder)


def test_a_save_during_reading_is_read_again(folder, monkeypatch):
    """The files of the header that was read are gone by the time they are opened."""
    writer = open_index(folder)
    real, times = stores.Store.read.__func__, []

    def late(cls, place, header):
        times.append(header["generation"])
        if len(times) == 1:
            writer.add(["c"], VECTORS[2:3])
            writer.save(folder)
        return real(cls, place, header)

    monkeypatch.setattr(stores.Store, "read", classmethod(late))
    assert list(open_index(folder)) == ["a", "b", "c"]
    assert times == [1, 2]


def test_damage_is_refused_at_once(tmp_path, monkeypatch):
    folders.write(tmp_path / "index", {"kind": "Made"})
    asked = []

    def read():
        asked.append(1)
        raise SpaceError("damaged")

    with pytest.raises(SpaceError, match="damaged"):
        durable.settled(tmp_path / "index", read)
    assert asked == [1]


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_others_may_read_what_one_saved(kind, tmp_path):
    index = kind(4, score="dot")
    index.add(NAMES, VECTORS)
    index.save(tmp_path / "index")
    index.close()
    (tmp_path / "plain").write_bytes(b"")
    plain = (tmp_path / "plain").stat().st_mode
    modes = {path.name: path.stat().st_mode for path in (tmp_path / "index").iterdir()}
    assert {name: mode for name, mode in modes.items() if mode & plain != plain} == {}


# --- kill -9 ----------------------------------------------------------------------------------------------

SCRIPT = Path(__file__).with_name("adding_until_killed.py")


def survives(kind, folder, *, kills, seed):
    """Let a process add, remove and save, kill it -9 again and again, and compare with what it said."""
    index = kind(4, score="dot")
    index.save(folder)
    index.close()
    command = [sys.executable, SCRIPT, folder, str(kills), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    said = [line.split() for line in done.stdout.splitlines()]
    expected, doubtful = {}, set()
    for word, *rest in said:
        if word == "trying":
            doubtful = {rest[0]}
            continue
        if word == "added":
            expected[rest[0]] = float(rest[1])
        elif word == "removed":
            del expected[rest[0]]
        elif word == "killed":
            state = {id: float(value) for id, value in (pair.split("=") for pair in rest)}
            # What was being tried when it was killed may have been done or not; nothing else may differ.
            assert {id: state[id] for id in state.keys() - doubtful} == {
                id: expected[id] for id in expected.keys() - doubtful
            }
            expected = state
        doubtful = set()
    assert sum(word == "killed" for word, *_ in said) == kills
    assert sum(word == "added" for word, *_ in said) >= kills
    again = open_index(folder)
    assert set(again) == set(expected)
    again.save(folder)
    assert len(names(folder)) <= 8  # what the dead left is gone


def test_what_returned_survives_kill(kind, tmp_path):
    survives(kind, tmp_path / "index", kills=8, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 4))
def test_what_returned_survives_kill_often(kind, tmp_path, seed):
    survives(kind, tmp_path / "index", kills=40, seed=seed)

"""The journal: every byte of it may be the last that was written, and no byte may have changed."""

import os
import subprocess
import sys
from io import FileIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind import journal as journals
from samekind.errors import SpaceError


def written(path, contents):
    """A journal of these entries, and where each of them ends."""
    journals.create(path)
    journal, ends = journals.Journal(path), [journals.first_end()]
    for content in contents:
        ends.append(journal.append([content[:2], memoryview(content)[2:]], end=ends[-1]))
    journal.close()
    return ends[1:]


def held(path, start=0):
    return [bytes(content) for content, _ in journals.entries(path, start=start)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.1.log"


@settings(max_examples=30)
@given(st.lists(st.binary(max_size=40), max_size=6))
def test_reads_what_was_appended(tmp_path_factory, contents):
    path = tmp_path_factory.mktemp("journal") / "log"
    ends = written(path, contents)
    assert held(path) == contents
    assert [end for _, end in journals.entries(path)] == ends
    for place, end in enumerate(ends):
        assert held(path, start=end) == contents[place + 1 :]


def test_an_entry_that_was_cut_short_is_dropped_and_overwritten(path):
    ends = written(path, [b"first", b"second", b"third one"])
    whole = path.read_bytes()
    for size in range(ends[1], ends[2]):
        path.write_bytes(whole[:size])
        assert held(path) == [b"first", b"second"]
        journal = journals.Journal(path)
        journal.cut(ends[1])
        assert path.stat().st_size == ends[1]
        path.write_bytes(whole[:size])
        journal.append([b"x"], end=ends[1])
        journal.close()
        assert held(path) == [b"first", b"second", b"x"]


def test_zeros_at_the_end_are_bytes_that_never_arrived(path):
    ends = written(path, [b"first"])
    path.write_bytes(path.read_bytes() + bytes(50))
    assert held(path) == [b"first"]
    assert ends[0] < path.stat().st_size


def test_a_changed_byte_is_damage_wherever_it_is(path):
    written(path, [b"first", b"second"])
    whole = path.read_bytes()
    for place in range(len(whole)):
        for bit in (1, 128):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
            with pytest.raises(SpaceError, match=r"is damaged: journal.1.log is not as it was written, from"):
                held(path)


@pytest.mark.parametrize("content", [b"", b"something else"])
def test_refuses_a_file_that_is_not_a_journal(path, content):
    path.write_bytes(content)
    with pytest.raises(SpaceError, match="from byte 0 on"):
        held(path)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_the_journal_as_it_was(path, error, monkeypatch):
    class Failing(FileIO):
        def write(self, content):
            if len(content) > 16:
                raise error
            return super().write(content)

    ends = written(path, [b"first"])
    monkeypatch.setattr(journals, "FileIO", Failing)
    journal = journals.Journal(path)
    with pytest.raises(type(error)):
        journal.append([b"x" * 100], end=ends[0])
    assert held(path) == [b"first"]
    assert journal.recorded([b"x" * 100], end=ends[0]) is None


def test_an_entry_is_written_and_read_however_many_calls_that_takes(path, monkeypatch):
    class Slow(FileIO):
        def write(self, content):
            return super().write(content[:3])

        def readinto(self, content):
            return super().readinto(content[:7])

    monkeypatch.setattr(journals, "FileIO", Slow)
    written(path, [b"first", b"y" * 100])
    assert held(path) == [b"first", b"y" * 100]


def test_an_entry_of_a_journal_that_is_gone_is_not_recorded(path):
    [end] = written(path, [b"first"])
    journal = journals.Journal(path)
    path.unlink()
    assert journal.recorded([b"x"], end=end) is None


def test_a_whole_entry_is_recorded_even_if_interrupted(path, monkeypatch):
    """A reader may have seen it."""
    ends = written(path, [b"first"])
    journal = journals.Journal(path)

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        journal.append([b"x", b"y" * 100], end=ends[0])
    assert held(path) == [b"first", b"x" + b"y" * 100]
    assert journal.recorded([b"x", b"y" * 100], end=ends[0]) == path.stat().st_size
    assert journal.recorded([b"x", b"z" * 100], end=ends[0]) is None  # another one, of who was forked


def test_an_entry_that_could_not_be_flushed_is_removed(path, monkeypatch):
    """Its bytes may be zeros once the next one lies behind them."""
    ends = written(path, [b"first"])
    journal = journals.Journal(path)

    def failing(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(OSError, match="No space left"):
        journal.append([b"x" * 100], end=ends[0])
    assert held(path) == [b"first"]
    assert path.stat().st_size == ends[0]


def test_cutting_never_makes_a_journal_longer(path):
    [end] = written(path, [b"first"])
    journals.Journal(path).cut(end + 50)
    assert path.stat().st_size == end


def test_a_closed_journal_never_writes(path, tmp_path):
    """Its number may be another file's by now."""
    journals.create(path)
    journal = journals.Journal(path)
    number = journal._file.fileno()
    journal.close()
    journal.close()
    other = tmp_path / "other"
    other.write_bytes(b"precious")
    taken = os.open(other, os.O_RDWR)
    try:
        assert taken == number
        with pytest.raises(ValueError, match="closed file"):
            journal.append([b"x"], end=0)
        with pytest.raises(ValueError, match="closed file"):
            journal.cut(0)
    finally:
        os.close(taken)
    assert other.read_bytes() == b"precious"


#: Reads the first entry; then a writer cuts off what was never finished behind it; then reads on.
CUT = """
import sys
from pathlib import Path
from samekind import journal as journals

path, end = Path(sys.argv[1]), int(sys.argv[2])
reading = journals.entries(path)
print(bytes(next(reading)[0]))
journals.Journal(path).append([b"another"], end=end)
print([bytes(content) for content, _ in reading])
"""


def test_a_reader_survives_a_writer_that_cuts_off_the_end(path):
    """In another process, because looking at a mapped page that is gone ends it (SIGBUS)."""
    [end] = written(path, [b"first"])
    with path.open("ab") as file:
        file.write(bytes(2**20))
    ran = subprocess.run(
        [sys.executable, "-c", CUT, path, str(end)], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "b'first'\n[b'another']\n", "")


@pytest.mark.parametrize("moment", [1, 2])
def test_an_entry_replaced_while_it_is_read_is_not_damage(path, monkeypatch, moment):
    """A writer that was interrupted after writing goes on, between the head of the entry and its content."""
    ends = written(path, [b"first", b"x" * 100])
    read, looks = journals._read, []

    def meanwhile(file, place, size):
        if place >= ends[0]:
            looks.append(place)
            if len(looks) == moment:
                journals.Journal(path).append([b"y" * 120], end=ends[0])
        return read(file, place, size)

    monkeypatch.setattr(journals, "_read", meanwhile)
    assert held(path) == [b"first", b"y" * 120]


def test_many_zeros_at_the_end_are_read_in_parts(path, monkeypatch):
    written(path, [b"first"])
    monkeypatch.setattr(journals, "CHUNK", 16)
    whole = path.read_bytes()
    path.write_bytes(whole + bytes(100))
    assert held(path) == [b"first"]
    path.write_bytes(whole + bytes(99) + b"x")
    with pytest.raises(SpaceError, match="is damaged"):
        held(path)


def test_is_on_the_disk_before_it_returns(path, monkeypatch):
    written(path, [])
    journal, flushed = journals.Journal(path), []
    monkeypatch.setattr(os, "fsync", lambda file: flushed.append(os.fstat(file).st_size))
    assert flushed == [journal.append([b"content"], end=journals.first_end())]

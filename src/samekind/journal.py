"""Changes written one behind the other: what was recorded survives the death of the process.

An entry is its length, a checksum of its content, a checksum of these two, and the content. It is on the disk
before `Journal.append` returns. It counts once it is whole, because a reader may have seen it. A process that
is killed or interrupted while it writes leaves the beginning of an entry at the end of the file: readers
ignore it, and the next entry replaces it. Anything else that does not fit its checksum is refused as damage.

A plain file needs neither locks nor shared memory: readers may be on other machines, and the drive or the
folder read-only. SQLite in WAL mode needs both; on a drive without locks it fails.
"""

import os
import struct
import weakref
import zlib
from collections.abc import Iterator, Sequence
from io import FileIO
from pathlib import Path

from samekind.errors import SpaceError

Content = bytes | memoryview

START = b"samekind journal 1\n"
LENGTH_AND_SUM = struct.Struct("<QI")
SUM = struct.Struct("<I")
HEAD = LENGTH_AND_SUM.size + SUM.size
CHUNK = 2**20  # bytes that are looked at together


class Journal:
    """A journal open for writing, until it is closed."""

    def __init__(self, path: Path) -> None:
        # A file and not its number, which would be another file's once this one is closed.
        self._path, self._file = path, FileIO(path, "r+")
        self._closing = weakref.finalize(self, self._file.close)

    def append(self, parts: Sequence[Content], *, end: int) -> int:
        """Record the parts as one entry, behind the ``end`` of the last entry that counts.

        Returns where the entry ends, in bytes; it is on the disk by then. A write that fails (a full disk)
        leaves the journal as it was. One that is stopped by Ctrl-C may leave the entry whole, which
        `recorded` tells, or its beginning.
        """
        checksum = 0
        for part in parts:
            checksum = zlib.crc32(part, checksum)
        head = LENGTH_AND_SUM.pack(sum(len(part) for part in parts), checksum)
        self.cut(end)
        try:
            self._file.seek(end)
            for part in (head + SUM.pack(zlib.crc32(head)), *parts):
                left = memoryview(part)
                while left:
                    left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        except OSError:
            # Even if whole: what could not be flushed may be zeros once the next entry lies behind it.
            self.cut(end)
            raise
        return self._file.tell()

    def recorded(self, parts: Sequence[Content], *, end: int) -> int | None:
        """Where the entry of these parts behind ``end`` ends; None if it is not there, or not whole."""
        try:
            # Opened anew: a forked process shares the place in the file with its parent.
            with FileIO(self._path) as file:
                content = _entry(file, end, self._path)
        except FileNotFoundError:  # a save came after the fork
            return None
        return end + HEAD + len(content) if content is not None and content == b"".join(parts) else None

    def cut(self, end: int) -> None:
        """Drop what is behind the last entry that counts."""
        if os.fstat(self._file.fileno()).st_size > end:
            self._file.truncate(end)

    def close(self) -> None:
        """Close the file."""
        self._closing()


def create(path: Path) -> None:
    """Make an empty journal, on the disk when this returns."""
    with path.open("wb") as file:
        file.write(START)
        file.flush()
        os.fsync(file.fileno())


def entries(path: Path, *, start: int = 0) -> Iterator[tuple[memoryview, int]]:
    """The content of each whole entry from ``start`` (0, or the end of an entry) on, and where it ends.

    The file is read, not mapped: a writer may cut off its end, and reading a mapped page that is gone would
    end the process.
    """
    with FileIO(path) as file:
        if _read(file, 0, len(START)) != START:
            raise _damaged(path, 0)
        place = max(start, len(START))
        while (content := _entry(file, place, path)) is not None:
            place += HEAD + len(content)
            yield content, place


def first_end() -> int:
    """Where an empty journal ends."""
    return len(START)


def _entry(file: FileIO, place: int, path: Path) -> memoryview | None:
    """The content of the entry at a place; None if no whole entry is there.

    Between two reads a writer may have replaced an entry that could not be flushed. So what does not fit is
    damage only if it is still the same when it is read again.
    """
    before = None
    while True:
        head = _read(file, place, HEAD)
        if len(head) < HEAD:
            return None
        length, checksum = LENGTH_AND_SUM.unpack(head[: LENGTH_AND_SUM.size])
        actual = 0
        if SUM.unpack(head[LENGTH_AND_SUM.size :])[0] == zlib.crc32(head[: LENGTH_AND_SUM.size]):
            if place + HEAD + length > os.fstat(file.fileno()).st_size:
                return None
            content = _read(file, place + HEAD, length)
            actual = zlib.crc32(content)
            if actual == checksum and len(content) == length:
                return content
        elif _is_zero(file, place):
            # After a power cut some file systems leave zeros where the bytes had not arrived yet.
            return None
        if (bytes(head), actual) == before:
            raise _damaged(path, place)
        before = (bytes(head), actual)


def _read(file: FileIO, place: int, size: int) -> memoryview:
    """So many bytes from a place on; fewer where the file ends."""
    content, held = memoryview(bytearray(size)), 0
    file.seek(place)
    while held < size and (count := file.readinto(content[held:])):
        held += count
    return content[:held]


def _is_zero(file: FileIO, place: int) -> bool:
    """Whether there are only zeros from a place on."""
    while some := bytes(_read(file, place, CHUNK)):
        if some.count(0) < len(some):
            return False
        place += len(some)
    return True


def _damaged(path: Path, place: int) -> SpaceError:
    return SpaceError(
        f"{path.parent} is damaged: {path.name} is not as it was written, from byte {place} on; "
        "restore it or make the index again"
    )

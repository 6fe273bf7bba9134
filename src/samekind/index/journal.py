"""Changes written one behind the other: what was recorded survives the death of the process.

An entry is its length, a checksum of its content, a checksum of these two, and the content. It has been
flushed to the disk before `Journal.append` returns. An entry counts once it is whole, for whoever reads may
have seen it. A process that is killed or interrupted while it writes leaves the beginning of an entry at the
end of the file: that is dropped, and goes with the next entry. Anything else that does not fit its checksum
is damage, and refused.
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
    """A journal that is written to, until it is closed."""

    def __init__(self, path: Path) -> None:
        # A file and not its number, which would be another file's once this one is closed.
        self._path, self._file = path, FileIO(path, "r+")
        self._closing = weakref.finalize(self, self._file.close)

    def append(self, parts: Sequence[Content], *, end: int) -> int:
        """Record the parts, one behind the other, as one entry, behind the ``end`` of the last that counts.
        Returns where it ends, in bytes; it is on the disk by then.

        A write that fails, for want of space, leaves the journal as it was. One that is stopped by Ctrl-C may
        leave the entry whole, which `recorded` tells, or its beginning.
        """
        head = LENGTH_AND_SUM.pack(sum(len(each) for each in parts), _checksum(parts))
        place = end
        self.cut(end)
        try:
            for each in (head + SUM.pack(zlib.crc32(head)), *parts):
                place = self._write(each, place)
            os.fsync(self._file.fileno())
        except OSError:
            # Whole or not: what could not be flushed may be zeros by the time the next entry lies behind it.
            self.cut(end)
            raise
        return place

    def recorded(self, parts: Sequence[Content], *, end: int) -> int | None:
        """Where the entry of these parts behind ``end`` ends; None where there is none, or not all of it."""
        content = _entry(self._file.fileno(), end, self._path)
        return end + HEAD + len(content) if content is not None and content == b"".join(parts) else None

    def cut(self, end: int) -> None:
        """Drop what is behind the last entry that counts."""
        if os.fstat(self._file.fileno()).st_size > end:
            os.ftruncate(self._file.fileno(), end)

    def _write(self, content: Content, place: int) -> int:
        """Write all of it, however many calls that takes, and say where it ends."""
        left = memoryview(content)
        while left:
            written = os.pwrite(self._file.fileno(), left, place)
            left, place = left[written:], place + written
        return place

    def close(self) -> None:
        """Give the file back; nothing can be appended any more."""
        self._closing()


def create(path: Path) -> None:
    """Make an empty journal, on the disk when this returns."""
    with path.open("wb") as file:
        file.write(START)
        file.flush()
        os.fsync(file.fileno())


def entries(path: Path, *, start: int = 0) -> Iterator[tuple[memoryview, int]]:
    """The content of each whole entry from ``start`` on, and where the entry ends.

    ``start`` is 0 or the end of an entry. An entry is read when it is asked for. A writer may be at work: the
    file is read and not mapped into memory, because looking at a page that the writer just cut off would end
    the process.
    """
    file = os.open(path, os.O_RDONLY)
    try:
        if _read(file, 0, len(START)) != START:
            raise _damaged(path, 0)
        place = max(start, len(START))
        while (content := _entry(file, place, path)) is not None:
            place += HEAD + len(content)
            yield content, place
    finally:
        os.close(file)


def _entry(file: int, place: int, path: Path) -> memoryview | None:
    """The content of the entry at a place; None where none is whole.

    Between two looks at it a writer may have cut off an entry that could not be flushed, and written another
    one in its place. So what does not fit is damage only if it is still the same when it is read again.
    """
    before = None
    while True:
        head = _read(file, place, HEAD)
        if len(head) < HEAD:
            return None
        length, checksum = LENGTH_AND_SUM.unpack(head[: LENGTH_AND_SUM.size])
        if SUM.unpack(head[LENGTH_AND_SUM.size :])[0] == zlib.crc32(head[: LENGTH_AND_SUM.size]):
            if place + HEAD + length > os.fstat(file).st_size:
                return None
            content = _read(file, place + HEAD, length)
            found = zlib.crc32(content)
            if found == checksum and len(content) == length:
                return content
        else:
            # After a power cut some file systems leave zeros where the bytes had not arrived yet.
            if _is_zero(file, place):
                return None
            found = 0
        if (bytes(head), found) == before:
            raise _damaged(path, place)
        before = (bytes(head), found)


def _read(file: int, place: int, size: int) -> memoryview:
    """So many bytes from a place on, however many calls that takes; fewer where the file ends."""
    content, held = memoryview(bytearray(size)), 0
    while held < size and (count := os.preadv(file, [content[held:]], place + held)):
        held += count
    return content[:held]


def _is_zero(file: int, place: int) -> bool:
    """Whether there is nothing but zeros from a place on."""
    while some := bytes(_read(file, place, CHUNK)):
        if some.count(0) < len(some):
            return False
        place += len(some)
    return True


def first_end() -> int:
    """Where an empty journal ends."""
    return len(START)


def _checksum(parts: Sequence[Content]) -> int:
    value = 0
    for each in parts:
        value = zlib.crc32(each, value)
    return value


def _damaged(path: Path, place: int) -> SpaceError:
    return SpaceError(
        f"{path.parent} is damaged: {path.name} is not as it was written, from byte {place} on; "
        "restore it or make the index again"
    )

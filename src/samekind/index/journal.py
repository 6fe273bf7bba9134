"""Changes written one behind the other: what was recorded survives the death of the process.

An entry is its length, a checksum of its content, a checksum of these two, and the content. It has been
flushed to the disk before `Journal.append` returns. A process that is killed while it writes leaves the
beginning of an entry at the end of the file: the call never returned, so that entry is dropped. Anything else
that does not fit its checksum is damage, and refused.
"""

import mmap
import os
import struct
import weakref
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from samekind.errors import SpaceError

Content = bytes | memoryview

START = b"samekind journal 1\n"
LENGTH_AND_SUM = struct.Struct("<QI")
SUM = struct.Struct("<I")
HEAD = LENGTH_AND_SUM.size + SUM.size


class Journal:
    """A journal that is written to; ``end`` is where its last whole entry ends, in bytes."""

    def __init__(self, path: Path, end: int) -> None:
        self.end = end
        self._file = os.open(path, os.O_RDWR)
        self._closing = weakref.finalize(self, os.close, self._file)

    def append(self, parts: Sequence[Content]) -> None:
        """Record the parts, one behind the other, as one entry; on the disk when this returns.

        A write that fails, for want of space or by Ctrl-C, leaves the journal as it was.
        """
        head = LENGTH_AND_SUM.pack(sum(len(each) for each in parts), _checksum(parts))
        place = self.end
        try:
            os.ftruncate(self._file, self.end)  # an entry whose call was interrupted after it was written
            for each in (head + SUM.pack(zlib.crc32(head)), *parts):
                place = self._write(each, place)
            os.fsync(self._file)
        except BaseException:
            os.ftruncate(self._file, self.end)
            raise
        self.end = place

    def _write(self, content: Content, place: int) -> int:
        """Write all of it, however many calls that takes, and say where it ends."""
        left = memoryview(content)
        while left:
            written = os.pwrite(self._file, left, place)
            left, place = left[written:], place + written
        return place

    def close(self) -> None:
        """Give the file back."""
        self._closing()


def create(path: Path) -> None:
    """Make an empty journal, on the disk when this returns."""
    with path.open("wb") as file:
        file.write(START)
        file.flush()
        os.fsync(file.fileno())


def reopen(path: Path, end: int) -> Journal:
    """Go on with a journal that was read up to ``end``; an entry that was half written there goes."""
    journal = Journal(path, end)
    os.truncate(path, end)
    return journal


def entries(path: Path, *, start: int = 0) -> Iterator[tuple[memoryview, int]]:
    """The content of each whole entry from ``start`` on, and where the entry ends.

    ``start`` is 0 or the end of an entry. The contents are views of the file, read when looked at.
    """
    size = path.stat().st_size
    if size == 0:
        raise _damaged(path, 0)
    with path.open("rb") as file:
        view = memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ))
    if view[: len(START)] != START:
        raise _damaged(path, 0)
    place = max(start, len(START))
    while (behind := place + HEAD) <= size:
        head = view[place : place + LENGTH_AND_SUM.size]
        length, checksum = LENGTH_AND_SUM.unpack(head)
        if SUM.unpack(view[place + LENGTH_AND_SUM.size : behind])[0] != zlib.crc32(head):
            # After a power cut some file systems leave zeros where the bytes had not arrived yet.
            if any(view[place:]):
                raise _damaged(path, place)
            return
        if behind + length > size:
            return
        content = view[behind : behind + length]
        if zlib.crc32(content) != checksum:
            raise _damaged(path, place)
        place = behind + length
        yield content, place


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

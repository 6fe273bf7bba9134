"""Changes of classes since a space was exported: a journal in its folder, on the disk before a change counts.

An entry is a line of JSON and, for an enrolment, the mean of its examples as 32-bit floats. The first entry
names the export, so that a journal is never read with another one. One process changes a folder at a time.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from samekind import journal as journals
from samekind.errors import SpaceError
from samekind.journal import Journal
from samekind.plain_files import Array, read_json
from samekind.portable.classes import KnownClasses
from samekind.portable.description import JOURNAL, LOCK
from samekind.storage import FolderLock, LockedError, write_bytes


class Enrolments:
    """The changes to the classes of one export, kept in a folder. ``digest`` names the export, ``start`` are
    the classes as they were exported.
    """

    def __init__(self, folder: Path, digest: str, start: KnownClasses) -> None:
        self._folder, self._digest, self._start = folder, digest, start
        self._path = folder / JOURNAL
        self._lock: FolderLock | None = None
        self._journal: Journal | None = None
        self._end = 0
        self.classes = self._replayed()

    def enroll(self, name: str, z: Array, *, replace: bool) -> KnownClasses:
        """A class from the embeddings (k, d) of its examples; a known one only with ``replace``."""
        self._begin()
        known = self.classes.spelt(name)
        if not (replace and known in self.classes.names):
            known = self.classes.new(name)
        mean = z.astype(np.float32).mean(0, dtype=np.float64).astype("<f4")
        return self._append({"enroll": known, "examples": len(z)}, mean)

    def rename(self, name: str, to: str) -> KnownClasses:
        """Call a class by another name."""
        self._begin()
        old = self.classes.known(name)
        if self.classes.spelt(to) == old:
            return self.classes
        return self._append({"rename": old, "to": self.classes.new(to)})

    def remove(self, name: str) -> KnownClasses:
        """Forget a class."""
        self._begin()
        return self._append({"remove": self.classes.known(name)})

    def close(self) -> None:
        """Let others change the folder."""
        if self._journal is not None:
            self._journal.close()
        if self._lock is not None:
            self._lock.give_back()
        self._journal = self._lock = None

    def _begin(self) -> None:
        """Take the right to change the folder, and what changed before. Raises SpaceError if it is taken."""
        if self._journal is not None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = FolderLock(self._folder, LOCK)
        except LockedError as error:
            raise SpaceError(
                f"the enrolled classes in {self._folder.name} are being changed by {error}; one server at a "
                "time enrols classes there"
            ) from error
        except OSError as error:
            raise SpaceError(
                f"classes cannot be enrolled: {self._folder.name} may not be written to ({error.strerror})"
            ) from error
        if not self._path.exists():
            write_bytes(self._path, journals.START)
        self.classes = self._replayed()
        self._journal = Journal(self._path)
        if self._end == journals.first_end():
            self._end = self._journal.append([_line({"export": self._digest})], end=self._end)

    def _append(self, entry: dict[str, Any], vector: Array | None = None) -> KnownClasses:
        """Record an entry; it counts once it is on the disk."""
        assert self._journal is not None
        parts = [_line(entry), b"" if vector is None else vector.tobytes()]
        after = _applied(self.classes, entry, b"".join(parts[1:]))
        try:
            self._end = self._journal.append(parts, end=self._end)
        except OSError as error:
            raise SpaceError(f"the change cannot be kept on the disk ({error.strerror})") from error
        self.classes = after
        return after

    def _replayed(self) -> KnownClasses:
        """The classes after every entry of the journal."""
        classes, self._end = self._start, journals.first_end()
        if not self._path.exists():
            return classes
        for place, (content, end) in enumerate(journals.entries(self._path)):
            line, _, rest = bytes(content).partition(b"\n")
            try:
                entry = read_json(line)
                if place == 0 and entry != {"export": self._digest}:
                    raise SpaceError(
                        f"{self._path} belongs to another export; move it away, or export the space to "
                        "another folder"
                    )
                classes = classes if place == 0 else _applied(classes, entry, rest)
            except (ValueError, KeyError, TypeError) as error:
                raise SpaceError(
                    f"{self._path} is damaged: entry {place} cannot be read ({error})"
                ) from error
            self._end = end
        return classes


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry).encode() + b"\n"


def _applied(classes: KnownClasses, entry: Mapping[str, Any], rest: bytes) -> KnownClasses:
    """The classes after an entry."""
    if "enroll" in entry:
        mean = np.frombuffer(rest, dtype="<f4")
        if mean.shape != classes.vectors.shape[2:]:
            raise ValueError(f"a class of {len(mean)} numbers")
        return classes.with_class(entry["enroll"], mean, int(entry["examples"]))
    if "rename" in entry:
        return classes.renamed(entry["rename"], entry["to"])
    return classes.without(entry["remove"])

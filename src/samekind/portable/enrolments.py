"""What changed since a space was exported: a journal in its folder, on the disk before a change counts.

An entry is a line of JSON and, for an enrolment, the mean of its examples as 32-bit floats. The first entry
names the export, so that a journal is never read with another one. One process changes a folder at a time.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from samekind import journal as journals
from samekind.decisions import Decision
from samekind.errors import SettingError, SpaceError
from samekind.journal import Journal
from samekind.plain_files import Array, read_json
from samekind.portable.classes import KnownClasses
from samekind.portable.description import JOURNAL, LOCK
from samekind.settings import read
from samekind.storage import FolderLock, LockedError, write_bytes


class State(NamedTuple):
    """What may change: the classes, and the decisions by their kind of score."""

    classes: KnownClasses
    decisions: Mapping[str, Decision]


class Enrolments:
    """The changes to one exported folder. ``digest`` names the export, ``start`` is how it was written."""

    def __init__(self, folder: Path, digest: str, start: State) -> None:
        self._folder, self._digest, self._start = folder, digest, start
        self._path = folder / JOURNAL
        self._lock: FolderLock | None = None
        self._journal: Journal | None = None
        self._end = 0
        self.state = self._replayed()

    def enroll(self, name: str, z: Array, *, replace: bool) -> State:
        """A class from the embeddings (k, d) of its examples; a known one only with ``replace``."""
        self._begin()
        known = self.state.classes.spelt(name)
        if not (replace and known in self.state.classes.names):
            known = self.state.classes.new(name)
        mean = z.astype(np.float32).mean(0, dtype=np.float64).astype("<f4")
        return self._append({"enroll": known, "examples": len(z)}, mean)

    def rename(self, name: str, to: str) -> State:
        """Call a class by another name."""
        self._begin()
        old = self.state.classes.known(name)
        if self.state.classes.spelt(to) == old:
            return self.state
        return self._append({"rename": old, "to": self.state.classes.new(to)})

    def remove(self, name: str) -> State:
        """Forget a class."""
        self._begin()
        return self._append({"remove": self.state.classes.known(name)})

    def decide(self, decision: Decision) -> State:
        """Take another decision for its kind of score."""
        self._begin()
        return self._append({"decide": asdict(decision)})

    def close(self) -> None:
        """Let others change the folder."""
        if self._journal is not None:
            self._journal.close()
        if self._lock is not None:
            self._lock.give_back()
        self._journal = self._lock = None

    def _begin(self) -> None:
        """Take the right to change the folder, and what others changed before. Raises SpaceError if another
        process has it.
        """
        if self._journal is not None:
            return
        try:
            self._lock = FolderLock(self._folder, LOCK)
        except LockedError as error:
            raise SpaceError(
                f"the classes of {self._folder.name} are being changed by {error}; one server at a time "
                "enrols classes in a folder"
            ) from error
        if not self._path.exists():
            write_bytes(self._path, journals.START)
        self.state = self._replayed()
        self._journal = Journal(self._path)
        if self._end == journals.first_end():
            self._end = self._journal.append([_line({"export": self._digest})], end=self._end)

    def _append(self, entry: dict[str, Any], vector: Array | None = None) -> State:
        """Record an entry; it counts once it is on the disk."""
        assert self._journal is not None
        parts = [_line(entry), b"" if vector is None else vector.tobytes()]
        after = _applied(self.state, entry, b"".join(parts[1:]))
        self._end = self._journal.append(parts, end=self._end)
        self.state = after
        return after

    def _replayed(self) -> State:
        """The state after every entry of the journal."""
        state, self._end = self._start, journals.first_end()
        if not self._path.exists():
            return state
        for place, (content, end) in enumerate(journals.entries(self._path)):
            line, _, rest = bytes(content).partition(b"\n")
            try:
                entry = read_json(line)
                if place == 0 and entry != {"export": self._digest}:
                    raise SpaceError(
                        f"{self._path} belongs to another export; move it away, or export the space to "
                        "another folder"
                    )
                state = state if place == 0 else _applied(state, entry, rest)
            except (ValueError, KeyError, TypeError, SettingError) as error:
                raise SpaceError(
                    f"{self._path} is damaged: entry {place} cannot be read ({error})"
                ) from error
            self._end = end
        return state


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry).encode() + b"\n"


def _applied(state: State, entry: Mapping[str, Any], rest: bytes) -> State:
    """The state after an entry."""
    classes, decisions = state
    if "enroll" in entry:
        mean = np.frombuffer(rest, dtype="<f4")
        if mean.shape != classes.vectors.shape[2:]:
            raise ValueError(f"a class of {len(mean)} numbers")
        return State(classes.with_class(entry["enroll"], mean, int(entry["examples"])), decisions)
    if "rename" in entry:
        return State(classes.renamed(entry["rename"], entry["to"]), decisions)
    if "remove" in entry:
        return State(classes.without(entry["remove"]), decisions)
    decision = read(Decision, entry["decide"], where=JOURNAL)
    return State(classes, {**decisions, decision.kind: decision})

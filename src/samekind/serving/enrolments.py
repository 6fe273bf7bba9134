"""Changes to the classes of a saved space, kept in an index: the space itself is not written again.

An example of an enrolled class is an entry: its embedding, with the name of the class. So an enrolment is as
durable as an addition to the index, and every process that uses the same index on a server sees it. The first
example of a class has an id that follows from the name: of two processes that enrol one name at the same time
the index refuses one. A class that training knew is renamed or removed by an entry of its own.

An addition is made whole or not at all, and so is a removal, but not both together. So an entry names the
enrolment it belongs to. Of a class those entries count that belong to the enrolment of its first example, and
what was renamed does not count any more, whether its entries were removed yet or not.
"""

import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from samekind.errors import SettingError
from samekind.index import Exact, Index, Milvus, Postgres, open_index, space_fingerprint
from samekind.index.folder import is_index
from samekind.index.server import address
from samekind.serving.refusal import class_taken
from samekind.space import MetricSpace

#: The entry that changes with everything that changes.
VERSION = "version"
#: What the name of an index gets on a server, where the enrolled classes are beside it.
BESIDE = "_enrolled"
ADDRESSES = {"Postgres": ("postgresql", "postgres"), "Milvus": ("http", "https")}


class EnrolledClass(NamedTuple):
    """A class, its examples (n, d), the node that it stands under in a tree, and when it was enrolled."""

    name: str
    z: Tensor
    under: str | None
    time: float
    enrolment: str
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Changes:
    """The differences from the saved space: classes of the training by their new names, None for one that was
    removed, and the enrolled classes, the first enrolled first.
    """

    trained: Mapping[str, str | None]
    enrolled: Mapping[str, EnrolledClass]


class Enrolments:
    """The changes to the classes of one space, in an index."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._seen: tuple[int, str] | None = None
        if VERSION not in index:
            self._mark()
        self.changes = self._read()

    @property
    def shared(self) -> bool:
        """Whether other processes may change them at the same time."""
        return self._index.remote

    def refresh(self) -> bool:
        """Read again what another process has changed; whether anything has."""
        if not self.shared or self._state() == self._seen:
            return False
        self.changes = self._read()
        return True

    def enroll(self, name: str, z: Tensor, *, replace: bool, under: str | None) -> None:
        """Keep the examples of a class. Raises Refusal if it is there already, unless it is replaced."""
        old, z = self.changes.enrolled.get(name), z.detach().cpu()
        added = self._add(name, z, under=under, replace=replace, was=None)
        if old is not None:
            self._forget(old.ids[len(z) :])
        if self.shared:
            self._done()
        else:  # nobody else has changed anything, so that it need not be read again
            others = {key: one for key, one in self.changes.enrolled.items() if key != name}
            self.changes = replaced(self.changes, enrolled={**others, name: added})

    def rename(self, name: str, to: str, *, trained: str | None) -> None:
        """Call a class by another name; ``trained`` is its name in the saved space, if it is there."""
        old = self.changes.enrolled.get(name)
        if old is not None:
            self._add(to, old.z, under=old.under, replace=False, was=[name, old.enrolment])
            self._forget(old.ids)
        if trained is not None:
            self._note(trained, to)
        self._done()

    def remove(self, name: str, *, trained: str | None) -> None:
        """Forget a class; ``trained`` as in `rename`."""
        if trained is not None:
            self._note(trained, None)
        if (old := self.changes.enrolled.get(name)) is not None:
            self._forget(old.ids)
        self._done()

    def close(self) -> None:
        """Give back files and connections."""
        self._index.close()

    def _add(self, name: str, z: Tensor, *, under: str | None, replace: bool, was: Any) -> EnrolledClass:
        enrolment, now = uuid.uuid4().hex, time.time()
        entry = {"class": name, "enrolment": enrolment, "time": now, "under": under, "was": was}
        added = EnrolledClass(
            name, z, under, now, enrolment, tuple(f"example:{name}#{place}" for place in range(len(z)))
        )
        ids = list(added.ids)
        entries: list[dict[str, Any]] = [{**entry, "place": place} for place in range(len(z))]
        if replace:  # the mark goes with it, in one step
            ids, z = [*ids, VERSION], torch.cat([z, torch.zeros(1, self._index.dimension)])
            entries.append({"version": uuid.uuid4().hex})
        try:
            self._index.add(ids, z, entries, replace=replace)
        except SettingError as error:
            if not replace and "already there" in str(error):
                raise class_taken(name) from error
            raise
        return added

    def _note(self, name: str, to: str | None) -> None:
        """Note that a class of the saved space has another name, or is no more."""
        zero = torch.zeros(1, self._index.dimension)
        self._index.add([f"trained:{name}"], zero, [{"trained": name, "to": to}], replace=True)

    def _forget(self, ids: Iterable[str]) -> None:
        known = [id for id in ids if id in self._index]
        if known:
            self._index.remove(known)

    def _mark(self) -> None:
        zero = torch.zeros(1, self._index.dimension)
        self._index.add([VERSION], zero, [{"version": uuid.uuid4().hex}], replace=True)

    def _done(self) -> None:
        """After a change: tell other processes, and know it here."""
        if self.shared:
            self._mark()
        self.changes = self._read()

    def _state(self) -> tuple[int, str]:
        [entry] = self._index.metadata([VERSION])
        return len(self._index), str(entry.get("version"))

    def _read(self) -> Changes:
        self._seen = self._state()
        ids = [id for id in self._index if id != VERSION]
        entries = dict(zip(ids, self._index.metadata(ids), strict=True))
        trained = {entry["trained"]: entry["to"] for entry in entries.values() if "trained" in entry}
        groups: dict[tuple[str, str], list[tuple[int, str]]] = {}
        for id, entry in entries.items():
            if "class" in entry:
                key = entry["class"], entry["enrolment"]
                groups.setdefault(key, []).append((entry["place"], id))
        renamed = {tuple(entry["was"]) for entry in entries.values() if entry.get("was")}
        enrolled = []
        for (name, enrolment), places in groups.items():
            rows = [id for _, id in sorted(places)]
            if rows[0] != f"example:{name}#0" or (name, enrolment) in renamed:
                continue
            entry = entries[rows[0]]
            vectors = self._index.vectors(rows)
            enrolled.append(
                EnrolledClass(name, vectors, entry["under"], entry["time"], enrolment, tuple(rows))
            )
        enrolled.sort(key=lambda one: one.time)
        return Changes(trained, {one.name: one for one in enrolled})


def open_enrolments(space: MetricSpace, folder: Path, gallery: Index | None) -> Enrolments:
    """The enrolled classes of a space: on the server of its gallery, beside it, or else in a folder.

    Raises SpaceError if they were enrolled with another space.
    """
    fingerprint, dimension = space_fingerprint(space), space.prototypes.dimension
    index: Index
    if gallery is not None and gallery.remote and gallery.url and gallery.name:
        make = Postgres if gallery.backend == "Postgres" else Milvus
        index = make(
            dimension,
            url=address(gallery.url, ADDRESSES[gallery.backend]),
            name=f"{gallery.name}{BESIDE}",
            score="euclidean",
            fingerprint=fingerprint,
        )
    elif is_index(folder):
        index = open_index(folder, fingerprint=fingerprint)
    else:
        index = Exact(dimension, score="euclidean", fingerprint=fingerprint)
        index.save(folder)
    return Enrolments(index)

"""A store that may live in a folder: every change is in the folder's journal before it is made.

It lives there once it was saved to the folder or opened from it. The first change takes the right to write
(one writer at a time). ``close`` or the end of the process gives it back; a forked process does not have it.
Reading needs no right. A writer is refused if another one has changed the folder since it was read.

Ctrl-C may come between any two steps, and nothing is put right on the way out: the next call finds what was
interrupted, before it does anything else. A change whose journal entry is whole is finished, because a reader
may have seen it; any other is dropped.
"""

import shutil
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

from torch import Tensor

from samekind import journal as journals
from samekind.errors import SettingError, SpaceError
from samekind.index import contract
from samekind.index import folder as folders
from samekind.index.changes import Change, from_content, to_parts
from samekind.index.contract import Index, Metadata, Score
from samekind.index.store import FILES, Store
from samekind.journal import Journal
from samekind.settings import Between, Natural, typed
from samekind.storage import FolderLock, LockedError

T = TypeVar("T")

#: What a header says about the content of a folder.
HEADER = {
    "dimension": Annotated[int, Between(1)],
    "score": Score,
    "fingerprint": str,
    "notes": dict[str, Any],
    "count": Natural,
}


def heading(index: Index) -> dict[str, Any]:
    """What the header contains for every index in a folder."""
    names = ("dimension", "score", "fingerprint", "notes")
    return {"kind": index.backend, **{name: getattr(index, name) for name in names}}


class _Due(NamedTuple):
    """A change that was begun: the store may hold nothing of it yet, or half, or all."""

    change: Change
    row: int  # its vectors lie ready from here on
    end: int | None  # of its journal entry; None as long as that may be missing, or not whole


class DurableStore:
    """A store, and the folder it lives in, if any."""

    def __init__(self, dimension: int) -> None:
        self._store = Store(dimension)
        self._due: _Due | None = None
        self._home: _Home | None = None

    @property
    def store(self) -> Store:
        """The store, with every change that counts."""
        self._carry_out()
        return self._store

    def _carry_out(self) -> None:
        """Finish the change that is due, if any, or drop it; every step may be done twice."""
        due, home = self._due, self._home
        if due is not None and due.end is None:
            end = home.recorded(due.change) if home is not None else 0
            due = self._due = None if end is None else due._replace(end=end)
        if due is not None:
            self._store.count(due.change, row=due.row)
            if home is not None and due.end is not None:
                home.end = due.end
            self._due = None

    def add(
        self, ids: Sequence[str], vectors: Tensor, metadata: Sequence[Metadata] | None, *, replace: bool
    ) -> None:
        """Check and store vectors; durable when this returns, if there is a folder."""
        contract.check_new_ids(ids, () if replace else self.store)
        values = contract.checked(vectors, dimension=self.store.dimension, count=len(ids))
        self._change(Change(list(ids), contract.as_texts(metadata, count=len(ids)), values.cpu()))

    def remove(self, ids: Sequence[str]) -> None:
        """Remove ids; a missing one is an error."""
        self.store.rows(ids)
        self._change(Change(list(ids)))

    def _change(self, change: Change) -> None:
        if not change.ids:
            return
        store = self.store
        if change.vectors is not None:
            change = change._replace(vectors=store.lay_ready(change.vectors))
        due = self._due = _Due(change, store.height, end=None)
        if self._home is not None:
            self._due = due._replace(end=self._home.record(change))
        self._carry_out()

    def save(
        self,
        folder: Path,
        content: Mapping[str, Any],
        *,
        files: Collection[str] = (),
        fill: Callable[[folders.Place], None] | None = None,
    ) -> Tensor:
        """Write a snapshot, with further files if there are any, and live in that folder from now on.

        Returns the new row of each old row of the store, -1 for an empty one.
        """
        store, home, old = self.store, self._home, self._home

        def write(place: folders.Place) -> None:
            store.write(place)
            if fill is not None:
                fill(place)

        if home is None or home.folder != folder.resolve():
            home = _Home(folder)
        header = home.write({**content, "count": len(store)}, files=(*FILES, *files), fill=write)
        self._home = home
        if old is not None and old is not home:
            old.close()
        return store.rebase(folder, header)

    @classmethod
    def read(
        cls, folder: Path, backend: str, *, fingerprint: str | None = None, verify: bool = False
    ) -> "tuple[DurableStore, dict[str, Any]]":
        """Content and header of a folder, for `settled`. SpaceError for another ``fingerprint``."""
        header = folders.read(folder, backend=backend, files=FILES, verify=verify)
        for name, hint in HEADER.items():
            typed(hint, header[name], name)
        durable = cls(header["dimension"])
        durable._store = Store.read(folder, header)
        path = folders.path_of(folder, header, folders.JOURNAL)
        if not path.is_file():
            raise SpaceError(f"{folder} is damaged: {path.name} is missing; make the index again")
        end = journals.first_end()
        for content, end in journals.entries(path):  # noqa: B007 (the last end is needed behind the loop)
            durable.store.apply(from_content(content, dimension=durable.store.dimension))
        durable._home = _Home(folder, generation=header["generation"], end=end)
        if fingerprint not in (None, header["fingerprint"]):
            contract.refuse_another_space(folder)
        return durable, header

    def close(self) -> None:
        """Give back the right to write, and the files."""
        self._carry_out()
        if self._home is not None:
            self._home.close()


class _Home:
    """A folder, how far it has been read, and, once something was written, the right to write.

    ``end`` is where the last journal entry that counts ends; generation 0 means that nothing was read or
    written there yet.
    """

    def __init__(self, folder: Path, *, generation: int = 0, end: int = 0) -> None:
        self.folder = folder.resolve()
        self._generation, self.end = generation, end
        self._save = ""  # the last save begun here; the header tells whether it was done
        self._lock: FolderLock | None = None
        self._journal: Journal | None = None

    def record(self, change: Change) -> int:
        """Write a change to the disk, behind ``end``; returns where it ends."""
        self._leave_to_parent()
        if self._journal is None:
            folders.read(self.folder)  # refuses a folder that is gone, with a sentence
            self._take_right()
            self._journal = Journal(self.folder / folders.numbered(folders.JOURNAL, self._generation))
        return self._journal.append(to_parts(change), end=self.end)

    def recorded(self, change: Change) -> int | None:
        """Where a change ends whose `record` was interrupted or failed; None if it is not on the disk."""
        return self._journal.recorded(to_parts(change), end=self.end) if self._journal is not None else None

    def write(
        self, content: Mapping[str, Any], *, files: Collection[str], fill: Callable[[folders.Place], None]
    ) -> dict[str, Any]:
        """Write a generation; keeps the right to write only if it was held before."""
        self._leave_to_parent()
        folders.check_room(self.folder)
        is_new, was_writer = not self.folder.exists(), self._lock is not None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._let_go_of_journal()  # the next change opens the journal of the generation then in force
            self._take_right()
            self._save = uuid.uuid4().hex
            header = folders.write(self.folder, {**content, "save": self._save}, files=files, fill=fill)
            self._go_on_from(header)
        except BaseException:
            if is_new and not folders.is_index(self.folder):
                shutil.rmtree(self.folder, ignore_errors=True)
            raise
        finally:
            if not was_writer:
                self.close()
        return header

    def _take_right(self) -> None:
        """Become the writer, unless there is another one, or one has changed the folder since it was read."""
        lock = self._lock or self._locked()
        try:
            if self._generation and folders.is_index(self.folder):
                self._check_unchanged()
            if lock is not self._lock and lock.exclusive:
                folders.tidy(self.folder)
        except BaseException:
            if lock is not self._lock:
                lock.give_back()
            raise
        self._lock = lock

    def _locked(self) -> FolderLock:
        try:
            return FolderLock(self.folder, folders.LOCK)
        except LockedError as error:
            raise SpaceError(
                f"{self.folder} is being written to by {error}; an index has one writer at a time: "
                "wait for the other one to end, or close it"
            ) from error

    def _check_unchanged(self) -> None:
        header = folders.read(self.folder)
        path = folders.path_of(self.folder, header, folders.JOURNAL)
        if self._save and header.get("save") == self._save:  # interrupted once it was done
            self._go_on_from(header)
        # A shorter journal: what was read here could not be flushed by its writer, and was dropped.
        unchanged = header["generation"] == self._generation and path.stat().st_size >= self.end
        if not unchanged or any(True for _ in journals.entries(path, start=self.end)):
            raise SpaceError(
                f"{self.folder} was changed by another writer since it was opened here; open it again"
            )

    def _go_on_from(self, header: Mapping[str, Any]) -> None:
        self._generation, self.end = header["generation"], journals.first_end()
        self._save = ""  # last: if Ctrl-C comes before, the next call does this again

    def _leave_to_parent(self) -> None:
        """Forget the right to write of the process that this one was forked from."""
        if self._lock is not None and not self._lock.held:
            self.close()

    def _let_go_of_journal(self) -> None:
        journal, self._journal = self._journal, None
        if journal is not None:
            journal.close()

    def close(self) -> None:
        self._let_go_of_journal()
        if self._lock is not None:
            self._lock.give_back()
        self._lock = None  # last: if Ctrl-C comes before, the next call gives it back


def settled(folder: Path, read: Callable[[], T]) -> T:
    """Read a folder; again if a save came between, so that files were gone.

    Raises SpaceError if the header or a file cannot be understood.
    """
    while True:
        before = folders.generation_of(folder, folders.read(folder))
        try:
            return read()
        except (KeyError, TypeError, ValueError, SettingError) as error:
            raise SpaceError(f"{folder} is damaged: {error}; restore it or make the index again") from error
        except (SpaceError, FileNotFoundError):
            if folders.generation_of(folder, folders.read(folder)) == before:
                raise

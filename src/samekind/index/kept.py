"""A store that may live in a folder: every change is in the folder's journal before it is made.

It lives there from the moment it was saved to the folder or opened from it. The first change takes the right
to write (one writer at a time), which is given back by ``close`` or by the end of the process; a process that
is forked does not have it, and asks anew. Reading needs no right. A writer who finds that somebody else has
changed the folder meanwhile is refused.

Ctrl-C may come between any two steps, so nothing is left to be put right on the way out: what one call was
torn from the next one finds, before it does anything else. A change whose entry in the journal is whole was
made, for whoever opened the folder meanwhile has seen it, and is finished; any other is dropped.
"""

import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from torch import Tensor

from samekind.errors import SettingError, SpaceError
from samekind.index import folder as folders
from samekind.index import journal as journals
from samekind.index.changes import Change, from_content, to_parts
from samekind.index.contract import Metadata, as_texts, check_new_ids, checked
from samekind.index.journal import Journal
from samekind.index.store import FILES, Store
from samekind.index.writer_lock import WriterLock

T = TypeVar("T")


class _Due(NamedTuple):
    """A change that was begun: the store may have seen nothing of it yet, or half, or all."""

    change: Change
    row: int  # its vectors lie ready from here on
    end: int | None  # of its entry in the journal; None as long as it may be not there, or not whole


class Kept:
    """A store, and the folder it lives in, if any."""

    def __init__(self, dimension: int) -> None:
        self._store = Store(dimension)
        self._due: _Due | None = None
        self._home: _Home | None = None

    @property
    def store(self) -> Store:
        """What is kept, with all that counts."""
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
        """Store vectors that were checked; durable when this returns, if there is a folder."""
        check_new_ids(ids, () if replace else self.store)
        values = checked(vectors, dimension=self.store.dimension, count=len(ids))
        self._change(Change(list(ids), as_texts(metadata, count=len(ids)), values.cpu()))

    def remove(self, ids: Sequence[str]) -> None:
        """Forget ids, all of which have to be there."""
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
        fill: Callable[[Path], None] | None = None,
    ) -> Tensor:
        """Write a snapshot, with further files where there are any, and live in that folder from now on.

        Returns where each row of the store went, -1 for one that is empty.
        """
        store, home, old = self.store, self._home, self._home

        def whole(draft: Path) -> None:
            store.write(draft)
            if fill is not None:
                fill(draft)

        if home is None or home.folder != folder.resolve():
            home = _Home(folder, generation=0, end=0)
        header = home.write({**content, "count": len(store)}, files=(*FILES, *files), fill=whole)
        self._home = home
        if old is not None and old is not home:
            old.close()
        return store.rebase(folder, header)

    @classmethod
    def read(
        cls, folder: Path, *, kind: str, files: Collection[str] = (), verify: bool = False
    ) -> "tuple[Kept, dict[str, Any]]":
        """What a folder holds, and its header; to be called by `settled`."""
        header = folders.read(folder, kind=kind, files=(*FILES, *files), verify=verify)
        if not isinstance(header["notes"], dict):
            raise TypeError("its notes are not a JSON object")
        kept = cls(header["dimension"])
        kept._store = Store.read(folder, header)
        path = folders.path_of(folder, header, folders.JOURNAL)
        if not path.is_file():
            raise SpaceError(f"{folder} is damaged: {path.name} is missing; make the index again")
        end = journals.first_end()
        for content, end in journals.entries(path):  # noqa: B007 (the last end is needed behind the loop)
            kept.store.apply(from_content(content, dimension=kept.store.dimension))
        kept._home = _Home(folder, generation=header["generation"], end=end)
        return kept, header

    def close(self) -> None:
        """Give back the right to write, and the files."""
        self._carry_out()
        if self._home is not None:
            self._home.close()


class _Home:
    """A folder, how far it has been read, and, once something was written, the right to write.

    ``end`` is where the last entry of the journal ends that counts.
    """

    def __init__(self, folder: Path, *, generation: int, end: int) -> None:
        self.folder = folder.resolve()
        self._generation, self.end = generation, end  # 0: not of this folder yet
        self._begun = 0  # the generation that a save of ours has written or not, while we are the writer
        self._lock: WriterLock | None = None
        self._journal: Journal | None = None

    def record(self, change: Change) -> int:
        """Write a change to the disk, behind ``end``; returns where it ends."""
        self._leave_to_parent()
        if self._journal is None:
            folders.read(self.folder)  # a folder that is gone is told in a sentence
            self._take_right()
            self._journal = Journal(self.folder / folders.numbered(folders.JOURNAL, self._generation))
        return self._journal.append(to_parts(change), end=self.end)

    def recorded(self, change: Change) -> int | None:
        """Where a change ends whose `record` was interrupted or failed; None if it is not on the disk."""
        return self._journal.recorded(to_parts(change), end=self.end) if self._journal is not None else None

    def write(
        self, content: Mapping[str, Any], *, files: Collection[str], fill: Callable[[Path], None]
    ) -> dict[str, Any]:
        """Write a generation; one who was a writer before stays it."""
        self._leave_to_parent()
        folders.check_room(self.folder)
        made, writer = not self.folder.exists(), self._lock is not None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._let_go_of_journal()  # the next change opens that of the generation then in force
            self._take_right()
            self._begun = folders.next_generation(self.folder)
            header = folders.write(self.folder, content, files=files, fill=fill)
        except BaseException:
            if made and not folders.is_index(self.folder):
                shutil.rmtree(self.folder, ignore_errors=True)
            raise
        finally:
            self._take_note()
            if not writer:
                self.close()
        return header

    def _take_right(self) -> None:
        """Be the writer, unless somebody else is, or has changed the folder since it was read."""
        lock = self._lock or WriterLock(self.folder)
        try:
            self._take_note()
            if self._generation and folders.is_index(self.folder):
                self._check_unchanged()
        except BaseException:
            if lock is not self._lock:
                lock.give_back()
            raise
        self._lock = lock

    def _take_note(self) -> None:
        """Go by the generation that a save of ours has begun, if it came into force."""
        ours = self._begun and self._lock is not None and self._lock.held  # else it may be somebody else's
        with suppress(SpaceError):  # there is none, or it is damaged: told when it is needed
            if ours and folders.read(self.folder).get("generation") == self._begun:
                self._generation, self.end, self._begun = self._begun, journals.first_end(), 0

    def _check_unchanged(self) -> None:
        header = folders.read(self.folder)
        same = header.get("generation") == self._generation
        path = folders.path_of(self.folder, header, folders.JOURNAL)
        # Shorter: the end of what was read here could not be flushed by the one who wrote it.
        same = same and path.stat().st_size >= self.end
        if not same or any(True for _ in journals.entries(path, start=self.end)):
            raise SpaceError(
                f"{self.folder} was changed by another writer since it was opened here; open it again"
            )

    def _leave_to_parent(self) -> None:
        """Forget a right to write that was another process's: in one that was forked from it, the end of the
        journal stays where it was then, and so does not hold any more.
        """
        if self._lock is not None and not self._lock.held:
            self.close()

    def _let_go_of_journal(self) -> None:
        journal, self._journal = self._journal, None
        if journal is not None:
            journal.close()

    def close(self) -> None:
        self._take_note()
        self._begun = 0
        self._let_go_of_journal()
        if self._lock is not None:
            self._lock.give_back()
        self._lock = None  # last: where Ctrl-C comes first, it is given back by the next call


def settled(folder: Path, read: Callable[[], T]) -> T:
    """Read a folder; where a save came between, so that files were gone, read it once more.

    What a header or a file cannot be read as is damage.
    """
    while True:
        before = _generation(folder)
        try:
            return read()
        except (KeyError, TypeError, ValueError, SettingError) as error:
            raise SpaceError(f"{folder} is damaged: {error}; restore it or make the index again") from error
        except (SpaceError, FileNotFoundError):
            if _generation(folder) == before:
                raise


def _generation(folder: Path) -> Any:
    return folders.read(folder).get("generation")

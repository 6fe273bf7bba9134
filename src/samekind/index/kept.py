"""A store that may live in a folder: every change is in the folder's journal before it is made.

It lives there from the moment it was saved to the folder or opened from it. The first change takes the right
to write (one writer at a time), which is given back by ``close`` or by the end of the process; a process that
is forked does not have it, and asks anew. Reading needs no right. A writer who finds that somebody else has
changed the folder meanwhile is refused.
"""

import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

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


class Kept:
    """A store, and the folder it lives in, if any."""

    def __init__(self, dimension: int) -> None:
        self.store = Store(dimension)
        self._home: _Home | None = None

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
        if self._home is not None:
            self._home.record(change)
        self.store.apply(change)

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

        def whole(draft: Path) -> None:
            self.store.write(draft)
            if fill is not None:
                fill(draft)

        home = self._home
        if home is None or home.folder != folder.resolve():
            home = _Home(folder, generation=0, end=0)
        header = home.write({**content, "count": len(self.store)}, files=(*FILES, *files), fill=whole)
        if self._home is not None and self._home is not home:
            self._home.close()
        self._home = home
        return self.store.rebase(folder, header)

    @classmethod
    def read(
        cls, folder: Path, *, kind: str, files: Collection[str] = (), verify: bool = False
    ) -> "tuple[Kept, dict[str, Any]]":
        """What a folder holds, and its header; to be called by `settled`."""
        header = folders.read(folder, kind=kind, files=(*FILES, *files), verify=verify)
        if not isinstance(header["notes"], dict):
            raise TypeError("its notes are not a JSON object")
        kept = cls(header["dimension"])
        kept.store = Store.read(folder, header)
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
        if self._home is not None:
            self._home.close()


class _Home:
    """A folder, how far it has been read, and, once something was written, the right to write."""

    def __init__(self, folder: Path, *, generation: int, end: int) -> None:
        self.folder = folder.resolve()
        self._generation, self._end = generation, end  # 0: not of this folder yet
        self._lock: WriterLock | None = None
        self._journal: Journal | None = None

    def record(self, change: Change) -> None:
        """Write a change to the disk."""
        self._leave_to_parent()
        if self._journal is None:
            folders.read(self.folder)  # a folder that is gone is told in a sentence
            lock = WriterLock(self.folder)
            try:
                header = self._unchanged()
                path = folders.path_of(self.folder, header, folders.JOURNAL)
                self._journal = journals.reopen(path, self._end)
            except BaseException:
                lock.give_back()
                raise
            self._lock = lock
        self._journal.append(to_parts(change))
        self._end = self._journal.end

    def write(
        self, content: Mapping[str, Any], *, files: Collection[str], fill: Callable[[Path], None]
    ) -> dict[str, Any]:
        """Write a generation; one who was a writer before stays it."""
        self._leave_to_parent()
        folders.check_room(self.folder)
        made = not self.folder.exists()
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = self._lock or WriterLock(self.folder)
        try:
            if self._generation and folders.is_index(self.folder):
                self._unchanged()
            header = folders.write(self.folder, content, files=files, fill=fill)
            self._generation, self._end = header["generation"], journals.first_end()
            if self._journal is not None:
                self._journal.close()
                path = folders.path_of(self.folder, header, folders.JOURNAL)
                self._journal = journals.reopen(path, self._end)
        except BaseException:
            if made and not folders.is_index(self.folder):
                shutil.rmtree(self.folder, ignore_errors=True)
            raise
        finally:
            if lock is not self._lock:
                lock.give_back()
        return header

    def _unchanged(self) -> dict[str, Any]:
        """The header of the folder, which nobody else has changed since it was read."""
        header = folders.read(self.folder)
        same = header.get("generation") == self._generation
        path = folders.path_of(self.folder, header, folders.JOURNAL)
        if not same or any(True for _ in journals.entries(path, start=self._end)):
            raise SpaceError(
                f"{self.folder} was changed by somebody else since it was opened here; open it again"
            )
        return header

    def _leave_to_parent(self) -> None:
        """Forget a right to write that was another process's: in one that was forked from it, the end of the
        journal stays where it was then, and so does not hold any more.
        """
        if self._lock is not None and not self._lock.held:
            self.close()

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()
        if self._lock is not None:
            self._lock.give_back()
        self._journal, self._lock = None, None


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

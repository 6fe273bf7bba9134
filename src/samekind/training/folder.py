"""One trainer at a time in the folder of a run: two would overwrite each other's checkpoints."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from samekind.errors import TrainingError
from samekind.storage import FolderLock, LockedError

LOCK = ".training.lock"

# The folders whose right those who called us have, and in which process: a fork has none of them.
_OURS: ContextVar[frozenset[tuple[int, Path]]] = ContextVar("_OURS", default=frozenset())


@contextmanager
def sole_trainer(folder: str | Path) -> Iterator[None]:
    """Have a folder, made if need be, to oneself while training in it; somebody else is refused.

    Within it, the same call is granted again at once: to train is a part of `fit`, and that a part of the
    command. Those who read the folder are never kept out. A process that is killed keeps nobody out. If
    nothing was written the folder is gone in the end, as if nobody had asked.
    """
    folder = Path(folder)
    mine = os.getpid(), folder.resolve()
    if mine in _OURS.get():
        yield
        return
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    lock = _lock(folder)
    before = _OURS.set(_OURS.get() | {mine})
    try:
        yield
    finally:
        _OURS.reset(before)
        lock.give_back(remove=True)
        _remove_empty(missing)


def _lock(folder: Path) -> FolderLock:
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            return FolderLock(folder, LOCK)
        except FileNotFoundError:  # one who was refused removed the empty folder, this very moment
            continue
        except LockedError as error:
            raise TrainingError(
                f"{error} is training in {folder}; wait for that to end or stop it, or choose another folder"
            ) from error


def _remove_empty(folders: list[Path]) -> None:
    """Remove folders, each inside the next, as long as there is nothing in them."""
    for each in folders:
        try:
            each.rmdir()
        except OSError:
            return

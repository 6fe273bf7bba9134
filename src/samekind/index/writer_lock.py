"""One writer at a time: a lock on a folder, which the system gives back when the process ends in any way."""

from pathlib import Path

from samekind.errors import SpaceError
from samekind.storage import FolderLock, LockedError

NAME = "lock"


class WriterLock:
    """The right to write to an index, from now until it is given back or the process is gone.

    Two indexes of one process are kept apart as well. Where the system has no such locks (Windows), nobody is
    kept out.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self._lock = FolderLock(folder, NAME)
        except LockedError as error:
            raise SpaceError(
                f"{folder} is being written to by {error}; an index has one writer at a time: "
                "wait for the other one to end, or close it"
            ) from error

    @property
    def held(self) -> bool:
        """Whether it is still ours: not once it was given back, nor in a process that was forked since."""
        return self._lock.held

    def give_back(self) -> None:
        """Let others write."""
        self._lock.give_back()

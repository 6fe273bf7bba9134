"""One writer at a time: a lock on a folder, which the system gives back when the process ends in any way."""

import os
import weakref
from pathlib import Path

from samekind.errors import SpaceError

NAME = "lock"


class WriterLock:
    """The right to write to a folder, from now until it is given back or the process is gone.

    Two indexes of one process are kept apart as well. Where the system has no such locks (Windows), nobody is
    kept out.
    """

    def __init__(self, folder: Path) -> None:
        handle = os.open(folder / NAME, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(handle)
        except BlockingIOError as error:
            os.close(handle)
            raise SpaceError(
                f"{folder} is being written to by somebody else; an index has one writer at a time: "
                "wait for the other one to end, or close it"
            ) from error
        self._giving_back = weakref.finalize(self, os.close, handle)

    def give_back(self) -> None:
        """Let others write."""
        self._giving_back()


def _lock(handle: int) -> None:
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

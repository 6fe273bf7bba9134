"""Files and folders that are written whole or not at all, and folders with one writer at a time.

Everything is first written beside its destination, flushed to the disk, and then moved there by one rename; a
process that dies at any moment leaves either the old content or the new one. What it had begun, its *draft*,
is removed by the next writer of the same file or folder. Who is dead is told by the locks of the system,
which end with the process that has them, however it ends. Where there are none (Windows, some network drives)
nobody is kept out of a folder, and no draft is removed but one's own.
"""

import json
import os
import re
import shutil
import socket
import time
import uuid
import weakref
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any

from samekind.errors import SpaceError

#: How long one who reads a folder waits for another to finish its last step, of two renames; in seconds.
PATIENCE = 1.0


def write_bytes(path: Path, content: bytes) -> None:
    """Replace a file by new content in one step. It has the rights of a new file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _draft_of(path, _new_file) as (draft, handle):
        # Kept open where it is locked: until it has its name, the draft must not look like a dead one's.
        # Windows, which has no locks, renames no open file.
        with open(handle, "wb", closefd=os.name == "nt") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    _flush_folder(path.parent)


def write_text(path: Path, text: str) -> None:
    """Replace a text file (UTF-8) in one step."""
    write_bytes(path, text.encode())


def read_header(folder: Path, *, name: str, what: str, form: str, version: int) -> dict[str, Any]:
    """The JSON header of a folder of ours; anything damaged, foreign or newer is refused with a sentence.

    ``what`` the folder should be is told in words, "a space"; ``form`` is what the header calls it, and
    ``version`` the newest that can be read.
    """
    bare, path = what.partition(" ")[2], folder / name
    if not folder.is_dir():
        raise SpaceError(f"there is no {bare} at {folder}; expected a folder with {name}")
    if not path.is_file():
        raise SpaceError(f"{folder} is not {what}: it has no {name}")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise SpaceError(f"{folder} is damaged: {name} cannot be read ({error})") from error
    if not isinstance(content, dict) or content.get("format") != form:
        raise SpaceError(f"{folder} is not {what}: {name} was written by something else")
    found = content.get("version")
    if not isinstance(found, int) or found < 1:
        raise SpaceError(f"{folder} is damaged: {name} has no version")
    if found > version:
        raise SpaceError(
            f"{folder} was saved by a newer samekind (format {found}, this one reads up to {version}); "
            "upgrade samekind"
        )
    return content


def others_in(folder: Path, names: Collection[str]) -> list[str]:
    """What replacing the folder would lose beside files of these names; a file, which is none, itself."""
    if not folder.is_dir():
        return [folder.name]
    return sorted(each.name for each in folder.iterdir() if each.name not in names)


def write_folder(folder: Path, fill: Callable[[Path], None]) -> None:
    """Replace a folder by what ``fill`` writes into an empty one.

    A folder cannot be swapped for another in one step everywhere, so the old one is moved aside first.
    Should the process die between the two renames, `recover_folder` brings the old one back. A link to a
    folder stays a link, and the new folder has the mode of the old one from the beginning on; what is in it
    has what ``fill`` gives it.
    """
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    recover_folder(folder)
    try:
        with _draft_of(folder, _new_folder) as (draft, _):
            with suppress(OSError):  # there was none, or the drive has no such rights
                shutil.copymode(folder, draft)
            fill(draft)
            for file in sorted(draft.rglob("*")):
                _flush(file)
            _flush_folder(draft)
            if folder.exists():
                folder.rename(_aside(folder))
            draft.rename(folder)
    finally:
        recover_folder(folder)
    _flush_folder(folder.parent)


def recover_folder(folder: Path) -> None:
    """Finish what a dying `write_folder` left: bring the old folder back, or remove it if the new one is
    there.

    One that is alive is given a moment to finish by itself: the old folder in its way would stop it.
    """
    folder = folder.resolve()
    old, latest = _aside(folder), time.monotonic() + PATIENCE
    while (left := _left_aside(folder)) is not None:
        if _is_being_written(folder) and time.monotonic() < latest:
            time.sleep(0.001)
        elif _left_aside(folder) == left:  # else it is one that has been put there meanwhile, by the living
            with suppress(FileNotFoundError):  # another reader was quicker
                old.rename(folder)
    if old.exists():
        shutil.rmtree(old, ignore_errors=True)


class LockedError(Exception):
    """Somebody else has the lock; its text says so, and who, where that is known."""

    def __init__(self, holder: str) -> None:
        super().__init__(f"somebody else ({holder})" if holder else "somebody else")


class FolderLock:
    """The right to write to a folder, from now until it is given back or the process is gone.

    It is the lock of a file of the given name in the folder, and means nothing to those who do not ask for
    it: readers never do. A file that a killed process left is nobody's lock. Two of one process are kept
    apart as well, and a process that is forked does not have what its parent has. Where the system or the
    drive has no locks, everybody gets it.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / name
        # A file and not its number: at whatever moment Ctrl-C comes, it is closed with the last who knows it.
        self._file = _lock_of(self.path)
        try:
            self._giving_back = weakref.finalize(self, self._file.close)
            _LOCKS.add(self)
            with suppress(OSError):  # for the one who is refused, and worth no failure
                self._file.truncate(0)
                self._file.write(f"{os.getpid()} {socket.gethostname()}\n".encode())
        except BaseException:
            self._file.close()
            raise

    @property
    def held(self) -> bool:
        """Whether it is still ours: not once it was given back, nor in a process that was forked since."""
        return self._giving_back.alive

    def give_back(self, *, remove: bool = False) -> None:
        """Let others write; ``remove`` the file too, if the folder shall look as if nobody had been there."""
        if remove and self.held:
            with suppress(OSError):  # of Windows, where it is open
                self.path.unlink(missing_ok=True)
        self._giving_back()
        self._file.close()  # once more, where Ctrl-C came to the first

    def _leave_to_parent(self) -> None:
        if self._giving_back.detach() is not None:
            self._file.close()


@contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Be the only one who replaces a folder, from before it is read until it is written; `LockedError` where
    somebody else is.

    The lock lies beside the folder, which `write_folder` swaps for another, and its file is gone in the end.
    Those who only read do not ask for it, and need not be allowed to write there.
    """
    folder = folder.resolve()
    if not folder.parent.is_dir():  # then nobody has read it, and there is nothing to be lost
        yield
        return
    name = f".{folder.name}.lock"
    with _in_the_name_of(folder, folder.with_name(name)):
        lock = FolderLock(folder.parent, name)
    try:
        yield
    finally:
        lock.give_back(remove=True)


# A process that is forked has all that was open, and would keep the lock when the one it came from is killed.
_LOCKS: "weakref.WeakSet[FolderLock]" = weakref.WeakSet()


def _leave_locks_to_parent() -> None:
    for lock in list(_LOCKS):
        lock._leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_locks_to_parent)


def _lock_of(path: Path) -> FileIO:
    """An open file that is locked and has that name."""
    while True:
        try:
            file = FileIO(path, "r+", opener=lambda name, _: os.open(name, os.O_RDWR | os.O_CREAT, 0o666))
        except PermissionError:  # somebody else's, in a folder we share
            if not path.exists():  # none, in a folder that we may not write to
                raise
            file = FileIO(path, "r")
        try:
            ours = _lock(file.fileno())
            if ours is None or (ours and _is_named(path, file.fileno())):
                return file
            holder = _holder(file.fileno())
        except BaseException:
            file.close()
            raise
        file.close()
        if not ours:
            raise LockedError(holder)
        # The one before has removed the file since it was opened here: this lock would keep nobody out.


def _holder(handle: int) -> str:
    """Who wrote into the file of a lock, in words."""
    try:
        number, host = os.read(handle, 1000).decode().split()
        process = int(number)
    except (OSError, ValueError):  # nothing yet, or a drive on which a locked file cannot be read
        return ""
    if host != socket.gethostname():
        return f"process {process} on {host}"
    return "this very process" if process == os.getpid() else f"process {process}"


def _lock(handle: int) -> bool | None:
    """Lock an open file until it is closed: whether it is ours; None where there are no locks."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # the second from some network drives
        return False
    except OSError:
        return None
    return True


def _is_named(path: Path, handle: int) -> bool:
    """Whether an open file or folder still has its name."""
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


@contextmanager
def _draft_of(path: Path, make: Callable[[Path], int]) -> Iterator[tuple[Path, int]]:
    """A draft that ``make`` makes, and its open handle (-1 if none), locked while it is used; what is left
    of it in the end goes, and first what dead processes left of theirs.
    """
    for left in _drafts(path):
        _sweep(left)
    while True:
        draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.draft")
        with _in_the_name_of(path, draft):
            handle = make(draft)
        try:
            # Until it is locked it looks like a dead one's, and somebody may have taken it for that.
            if handle < 0 or (_lock(handle) is not False and draft.exists()):
                yield draft, handle
                return
        finally:
            try:
                _remove(draft)
            finally:
                if os.name != "nt":
                    os.close(handle)


def _new_file(draft: Path) -> int:
    return os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)


def _new_folder(draft: Path) -> int:
    draft.mkdir()
    return os.open(draft, os.O_RDONLY | os.O_DIRECTORY) if hasattr(os, "O_DIRECTORY") else -1


def _drafts(path: Path) -> list[Path]:
    """Everybody's drafts of a file or folder."""
    name = re.compile(re.escape(f".{path.name}.") + r"[0-9a-f]{8}\.draft")
    with os.scandir(path.parent) as entries:
        return [path.with_name(each.name) for each in entries if name.fullmatch(each.name)]


def _sweep(draft: Path) -> None:
    """Remove a draft if its writer is dead: then nobody has its lock. One that we may not remove stays."""
    with suppress(OSError), _opened(draft) as handle:
        if handle is not None and _lock(handle):
            _remove(draft)


def _is_being_written(path: Path) -> bool:
    """Whether somebody alive has a draft of a file or folder."""
    for draft in _drafts(path):
        with _opened(draft) as handle:
            if handle is not None and _lock(handle) is False:
                return True
    return False


@contextmanager
def _opened(draft: Path) -> Iterator[int | None]:
    """The handle of somebody's draft, to try its lock; None if it cannot be had, or is gone."""
    handle = None
    with suppress(OSError):  # a file on a network drive can be locked only by one who may write to it
        handle = os.open(draft, os.O_RDONLY if draft.is_dir() else os.O_RDWR)
    try:
        yield handle
    finally:
        if handle is not None:
            os.close(handle)


def _remove(draft: Path) -> None:
    if draft.is_dir():
        shutil.rmtree(draft, ignore_errors=True)
    else:
        draft.unlink(missing_ok=True)


@contextmanager
def _in_the_name_of(path: Path, draft: Path) -> Iterator[None]:
    """Let an error name the file that was asked for: nobody knows its draft."""
    try:
        yield
    except OSError as error:
        if error.filename == str(draft):
            error.filename = str(path)
        raise


def _left_aside(folder: Path) -> int | None:
    """Which folder is aside while none is in its place, by the system's number; None if there is no such."""
    try:
        return None if folder.exists() else _aside(folder).stat().st_ino
    except (FileNotFoundError, NotADirectoryError):
        return None


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")


def _flush(path: Path) -> None:
    if path.is_file():
        with path.open("rb") as file:
            os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    """Make a rename durable where the system lets a folder be opened (not on Windows)."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

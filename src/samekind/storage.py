"""Files and folders that are written whole or not at all, and locks for folders with one writer at a time.

Content is written to a *draft* beside its destination, flushed to the disk, and moved there by one rename. A
process that dies at any moment leaves the old content or the new. The next writer of the same file or folder
removes the drafts of dead processes: a living one keeps its draft locked. The system ends a lock with its
process, however that ends. Where a drive has no locks, every request for one is granted, and drafts of other
processes stay.
"""

import errno
import os
import re
import shutil
import socket
import time
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import filelock

from samekind.errors import SpaceError
from samekind.plain_files import read_json

#: How long a reader waits for a living writer between the two renames of `write_folder`, in seconds.
PATIENCE = 1.0
#: The errors of drives that have no locks.
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}


def write_bytes(path: Path, content: bytes) -> None:
    """Replace a file in one step. The new file has the mode of a new file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _draft_of(path, _new_file) as (draft, handle):
        # Stays open, and so locked, until the rename. Windows cannot rename an open file.
        with open(handle, "wb", closefd=os.name == "nt") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    _flush_folder(path.parent)


def write_text(path: Path, text: str) -> None:
    """Replace a text file (UTF-8) in one step."""
    write_bytes(path, text.encode())


def read_header(folder: Path, *, name: str, what: str, format_name: str, version: int) -> dict[str, Any]:
    """The JSON header of a folder; raises SpaceError if it is missing, damaged, foreign or newer.

    ``what`` is the folder's content in words ("a space"), ``format_name`` the format that its header must
    name, and ``version`` the newest version that can be read.
    """
    bare, path = what.partition(" ")[2], folder / name
    if not folder.is_dir():
        raise SpaceError(f"there is no {bare} at {folder}; expected a folder with {name}")
    if not path.is_file():
        raise SpaceError(f"{folder} is not {what}: it has no {name}")
    try:
        content = read_json(path.read_bytes())
    except ValueError as error:
        raise SpaceError(f"{folder} is damaged: {name} cannot be read ({error})") from error
    if not isinstance(content, dict) or content.get("format") != format_name:
        raise SpaceError(f"{folder} is not {what}: {name} has another format")
    saved = content.get("version")
    if not isinstance(saved, int) or saved < 1:
        raise SpaceError(f"{folder} is damaged: {name} has no version")
    if saved > version:
        raise SpaceError(
            f"{folder} was saved by a newer samekind (format {saved}, this one reads up to {version}); "
            "upgrade samekind"
        )
    return content


def others_in(folder: Path, names: Collection[str]) -> list[str]:
    """The names in a folder other than these; of a file, its own name."""
    if not folder.is_dir():
        return [folder.name]
    return sorted(path.name for path in folder.iterdir() if path.name not in names)


def write_folder(folder: Path, fill: Callable[[Path], None]) -> None:
    """Replace a folder by what ``fill`` writes into an empty one.

    No system swaps two folders in one step everywhere, so the old one is moved aside first. If the process
    dies between the two renames, `recover_folder` brings the old one back. A link to a folder stays a link.
    The new folder has the mode of the old one from the beginning; its files have the modes ``fill`` gives.
    """
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    recover_folder(folder)
    try:
        with _draft_of(folder, _new_folder) as (draft, _):
            with suppress(OSError):  # no old folder, or a drive without modes
                shutil.copymode(folder, draft)
            fill(draft)
            for path in sorted(draft.rglob("*")):
                if path.is_file():
                    with path.open("rb") as file:
                        os.fsync(file.fileno())
            _flush_folder(draft)
            if folder.exists():
                folder.rename(_aside(folder))
            draft.rename(folder)
    finally:
        recover_folder(folder)
    _flush_folder(folder.parent)


def recover_folder(folder: Path) -> None:
    """Finish a `write_folder` that died: bring the old folder back, or remove it if the new one is in place.

    A writer that still runs gets a moment to finish: putting the old folder back would stop it.
    """
    folder = folder.resolve()
    old, latest = _aside(folder), time.monotonic() + PATIENCE
    while (inode := _left_aside(folder)) is not None:
        if _is_being_written(folder) and time.monotonic() < latest:
            time.sleep(0.001)
        elif _left_aside(folder) == inode:  # else a living writer has just put it there
            with suppress(FileNotFoundError):  # another reader was quicker
                old.rename(folder)
    if old.exists():
        shutil.rmtree(old, ignore_errors=True)


class LockedError(Exception):
    """The lock is taken; the text names the holder: "process 12 on host", or "another process"."""


class FolderLock:
    """The right to write to a folder, until it is released or the process ends.

    It is a lock on a file of the given name in the folder; readers do not need it. Two locks of one process
    exclude each other too. A forked process does not have the locks of its parent. Where the drive
    has no locks, every request is granted.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / name
        # Every user of a shared folder may lock the file, so all of them may write to it.
        self._lock = filelock.FileLock(self.path, mode=0o666, thread_local=False, on_acquired=_sign)
        try:
            self._acquire()
            self._process = os.getpid()
        except BaseException:
            # Ctrl-C came once it was acquired: the traceback would keep it.
            self._lock.release(force=True)
            raise

    def _acquire(self) -> None:
        while not self._lock.is_locked:
            try:
                self._lock.acquire(blocking=False)
            except filelock.Timeout as error:
                if self.path.exists():
                    raise LockedError(_holder(self.path)) from error
                # The holder has just removed the file: try the next one.
            except OSError as error:
                if error.errno not in NO_LOCKS:
                    raise
                return

    @property
    def held(self) -> bool:
        """False once it was given back, and in a process that was forked since."""
        return self._process == os.getpid()

    @property
    def exclusive(self) -> bool:
        """Whether nobody else can have it: False where the drive has no locks."""
        return self.held and self._lock.is_locked

    def give_back(self, *, remove: bool = False) -> None:
        """Let others write; ``remove`` deletes the file too."""
        if remove and self.held:
            with suppress(OSError):  # Windows does not remove an open file
                self.path.unlink(missing_ok=True)
        self._lock.release(force=True)
        self._process = 0  # last: if Ctrl-C comes before, the next call gives it back


@contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Be the only one who replaces a folder, from before it is read until it is written.

    Raises LockedError if another has that right. The lock lies beside the folder, because `write_folder`
    replaces the folder itself; its file is removed in the end. Readers do not need it.
    """
    folder = folder.resolve()
    if not folder.parent.is_dir():  # then there is nothing to read, and nothing to lose
        yield
        return
    name = f".{folder.name}.lock"
    with _in_the_name_of(folder, folder.with_name(name)):
        lock = FolderLock(folder.parent, name)
    try:
        yield
    finally:
        lock.give_back(remove=True)


def _sign(handle: int) -> None:
    """Write the process and host of the holder into the file of a lock."""
    with suppress(OSError):
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()} {socket.gethostname()}\n".encode())


def _holder(path: Path) -> str:
    """The holder of a lock, in words."""
    try:
        number, host = path.read_bytes()[:1000].decode().split()
        process = int(number)
    except (OSError, ValueError):  # not written yet, or a system on which a locked file cannot be read
        return "another process"
    if host != socket.gethostname():
        return f"process {process} on {host}"
    return "this very process" if process == os.getpid() else f"process {process}"


def _lock(handle: int) -> bool | None:
    """Lock an open draft until it is closed: whether that worked; None where there are no locks.

    None on Windows, where a draft cannot stay open until it is renamed.
    """
    try:
        return None if os.name == "nt" else filelock.lock_descriptor(handle, blocking=False)
    except OSError:
        return None


@contextmanager
def _draft_of(path: Path, make: Callable[[Path], int]) -> Iterator[tuple[Path, int]]:
    """A draft by ``make`` and its open handle (-1 if none), locked while it is used and removed in the end.

    First removes the drafts that dead processes left.
    """
    for other in _drafts(path):
        with suppress(OSError), _opened(other) as handle:
            if handle is not None and _lock(handle):
                _remove(other)
    while True:
        draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.draft")
        with _in_the_name_of(path, draft):
            handle = make(draft)
        try:
            # Until it is locked, another process may take it for a dead one's.
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
    """The drafts of a file or folder, of all processes."""
    name = re.compile(re.escape(f".{path.name}.") + r"[0-9a-f]{8}\.draft")
    with os.scandir(path.parent) as entries:
        return [path.with_name(entry.name) for entry in entries if name.fullmatch(entry.name)]


def _is_being_written(path: Path) -> bool:
    """Whether a living process has a draft of a file or folder."""
    for draft in _drafts(path):
        with _opened(draft) as handle:
            if handle is not None and _lock(handle) is False:
                return True
    return False


@contextmanager
def _opened(draft: Path) -> Iterator[int | None]:
    """The handle of a draft, to try its lock; None if it cannot be opened, or is gone."""
    handle = None
    with suppress(OSError):  # on a network drive only a file that may be written to can be locked
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
    """Let an error name the file that the user knows, not its draft."""
    try:
        yield
    except OSError as error:
        if error.filename == str(draft):
            error.filename = str(path)
        raise


def _left_aside(folder: Path) -> int | None:
    """The inode of the old folder that was moved aside, if no folder is in its place; else None."""
    try:
        return None if folder.exists() else _aside(folder).stat().st_ino
    except (FileNotFoundError, NotADirectoryError):
        return None


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")


def _flush_folder(folder: Path) -> None:
    """Make a rename durable, where the system can open a folder (not on Windows)."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

"""Files and folders that are written whole or not at all.

Everything is first written beside its destination, flushed to the disk, and then moved there by one rename; a
process that dies at any moment leaves either the old content or the new one.
"""

import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def write_bytes(path: Path, content: bytes) -> None:
    """Replace a file by new content in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = _draft(path)
    try:
        with _in_the_name_of(path, draft), draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    _flush_folder(path.parent)


def write_text(path: Path, text: str) -> None:
    """Replace a text file (UTF-8) in one step."""
    write_bytes(path, text.encode())


def write_folder(folder: Path, fill: Callable[[Path], None]) -> None:
    """Replace a folder by what ``fill`` writes into an empty one.

    A folder cannot be swapped for another in one step everywhere, so the old one is moved aside first.
    Should the process die between the two renames, `recover_folder` brings the old one back. A link to a
    folder stays a link.
    """
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    recover_folder(folder)
    draft, old = _draft(folder), _aside(folder)
    with _in_the_name_of(folder, draft):
        draft.mkdir()
    try:
        fill(draft)
        for file in sorted(draft.rglob("*")):
            _flush(file)
        _flush_folder(draft)
        if folder.exists():
            folder.rename(old)
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        recover_folder(folder)
    _flush_folder(folder.parent)


def recover_folder(folder: Path) -> None:
    """Finish what a dying `write_folder` left: bring the old folder back, or remove it if the new one is
    there.
    """
    folder = folder.resolve()
    old = _aside(folder)
    if old.exists() and not folder.exists():
        old.rename(folder)
    elif old.exists():
        shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _in_the_name_of(path: Path, draft: Path) -> Iterator[None]:
    """Let an error name the file that was asked for: nobody knows its draft."""
    try:
        yield
    except OSError as error:
        if error.filename == str(draft):
            error.filename = str(path)
        raise


def _draft(path: Path) -> Path:
    return path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.draft")


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

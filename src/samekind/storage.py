"""Files and folders that are written whole or not at all.

Everything is first written beside its destination, flushed to the disk, and then moved there by one rename; a
process that dies at any moment leaves either the old content or the new one.
"""

import json
import os
import shutil
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from samekind.errors import SpaceError


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


def holds_something_else(folder: Path, names: Collection[str]) -> bool:
    """Whether replacing the folder would lose anything but files of these names."""
    return not folder.is_dir() or any(each.name not in names for each in folder.iterdir())


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

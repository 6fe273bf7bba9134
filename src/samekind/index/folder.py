"""The folder an index is kept in: ``index.json`` says what it is, the other files hold its content.

Every save is a new *generation*: its files are written beside those of the last one, under names with its
number, and become the index at the moment ``index.json`` names them, which is one rename. The files of the
last generation go afterwards. A process that dies at any moment leaves the old index or the new one, and one
that reads meanwhile gets one of the two. Nothing in the folder is code.

Files are checked against the hash they were saved with when the index is opened; but a large one that is only
mapped into memory would have to be read for that, so there the size has to do unless all is to be verified.
"""

import hashlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from samekind import storage
from samekind.errors import SettingError, SpaceError
from samekind.index import journal, writer_lock

FORMAT = "samekind index"
VERSION = 2
HEADER = "index.json"
JOURNAL = "journal.log"
LARGE = 64 * 2**20
#: The files an index may have, a generation each; and what format 1 had.
FILES = ("ids.txt", "metadata.jsonl", "vectors.npy", "rows.npy", "structure.faiss", JOURNAL)
MAPPED = "vectors.npy"
OLD_FILES = {"items.jsonl", "vectors.safetensors"}
NUMBERED = re.compile("|".join(name.replace(".", r"\.(\d+)\.") for name in FILES))
DRAFT = re.compile(r"\.draft\.\w+|\.index\.json\.\w+\.draft")


def is_index(folder: Path) -> bool:
    """Whether a folder claims to be an index; `read` tells whether it is a whole one."""
    return (folder / HEADER).is_file()


def check_room(folder: Path) -> None:
    """Refuse to write to a folder that holds anything else than an index."""
    if folder.exists() and (not folder.is_dir() or any(not _is_ours(each.name) for each in folder.iterdir())):
        raise SpaceError(f"{folder} holds something else than an index; choose another folder to save to")


def write(
    folder: Path,
    content: Mapping[str, Any],
    *,
    files: Collection[str] = (),
    fill: Callable[[Path], None] | None = None,
) -> dict[str, Any]:
    """Write a generation, whole or not at all: the ``files`` that ``fill`` puts into an empty folder, an
    empty journal (if there are files at all), and the header, which is returned.

    An older index is replaced; a folder that holds anything else is not.
    """
    check_room(folder)
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    number = next_generation(folder)
    try:
        header = {
            "format": FORMAT,
            "version": VERSION,
            "generation": number,
            **content,
            "files": _filled(folder, number, files, fill),
        }
        text = _as_json(header)
        if files:
            journal.create(folder / numbered(JOURNAL, number))
        storage.write_text(folder / HEADER, text)
    except BaseException:
        # Stopped by Ctrl-C after the rename, it is written: what the header names must stay.
        if not _may_be_named(folder, number):
            _forget(folder, lambda name: _generation(name) == number)
            if made:
                shutil.rmtree(folder, ignore_errors=True)
        raise
    _forget(folder, lambda name: _generation(name) != number and name not in {HEADER, writer_lock.NAME})
    return header


def read(
    folder: Path, *, kind: str | None = None, files: Collection[str] = (), verify: bool = False
) -> dict[str, Any]:
    """The header of an index of this kind (of any, if None) whose files are all there and as they were saved.

    Anything damaged, foreign, half written or of another format is refused with a sentence.
    """
    if folder.is_dir() and not is_index(folder) and _is_begun([each.name for each in folder.iterdir()]):
        raise SpaceError(
            f"{folder} is a half-written index: saving it for the first time was cut short; "
            "make the index again"
        )
    header = storage.read_header(folder, name=HEADER, what="an index", form=FORMAT, version=VERSION)
    if header["version"] < VERSION:
        older = f"format {header['version']}, this one reads {VERSION}"
        raise SpaceError(f"{folder} was saved by an older samekind ({older}); make the index again")
    if kind is not None and header.get("kind") != kind:
        raise SpaceError(f"{folder} is an index of another kind: {header.get('kind')}, not {kind}")
    for name in files:
        path = path_of(folder, header, name)
        # What is only mapped is a plain array: a wrong byte in it is a wrong number and nothing worse.
        hashed = verify or name != MAPPED or (path.is_file() and path.stat().st_size <= LARGE)
        _check(path, _saved(folder, header, name), hashed=hashed)
    return header


def path_of(folder: Path, header: Mapping[str, Any], name: str) -> Path:
    """Where a file of the header's generation lies."""
    number = header.get("generation")
    if not isinstance(number, int):
        raise SpaceError(f"{folder} is damaged: {HEADER} has no generation; restore it or make it again")
    return folder / numbered(name, number)


def numbered(name: str, generation: int) -> str:
    """The name of a file in a generation.

    >>> numbered("vectors.npy", 3)
    'vectors.3.npy'
    """
    stem, dot, suffix = name.partition(".")
    return f"{stem}.{generation}{dot}{suffix}"


def _filled(
    folder: Path, number: int, files: Collection[str], fill: Callable[[Path], None] | None
) -> dict[str, Any]:
    """Write the files of a generation to the disk, and say what they are."""
    draft = folder / f".draft.{uuid.uuid4().hex[:8]}"
    described = {}
    draft.mkdir()
    try:
        if fill is not None:
            fill(draft)
        for name in files:
            with (draft / name).open("rb") as file:
                os.fsync(file.fileno())
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            described[name] = {"bytes": (draft / name).stat().st_size, "sha256": digest}
            (draft / name).rename(folder / numbered(name, number))
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return described


def _as_json(header: Mapping[str, Any]) -> str:
    try:
        return json.dumps(header, indent=2, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise SettingError(f"notes are what JSON can hold: {error}") from error


def _saved(folder: Path, header: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """What the header says of a file."""
    saved = header["files"].get(name) if isinstance(header.get("files"), dict) else None
    if not isinstance(saved, dict):
        raise SpaceError(f"{folder} is damaged: {HEADER} does not name {name}; restore it or make it again")
    return saved


def _check(path: Path, saved: Mapping[str, Any], *, hashed: bool) -> None:
    if not path.is_file():
        raise SpaceError(
            f"{path.parent} is damaged: {path.name} is missing; restore it or make the index again"
        )
    whole = path.stat().st_size == saved.get("bytes")
    if whole and hashed:
        with path.open("rb") as file:
            whole = hashlib.file_digest(file, "sha256").hexdigest() == saved.get("sha256")
    if not whole:
        raise SpaceError(
            f"{path.parent} is damaged: {path.name} is not the file it was saved with; "
            "restore it or make the index again"
        )


def _generation(name: str) -> int:
    """The generation a file belongs to; 0 for one that belongs to none."""
    found = NUMBERED.fullmatch(name)
    return int(found[found.lastindex or 0]) if found else 0


def _is_begun(names: Collection[str]) -> bool:
    """Whether these are what a first save leaves that was killed: its lock alone, a draft, or its files."""
    return set(names) == {writer_lock.NAME} or any(
        _generation(each) or DRAFT.fullmatch(each) for each in names
    )


def _may_be_named(folder: Path, number: int) -> bool:
    """Whether the header on the disk is that of a generation, or cannot be read now."""
    try:
        content = json.loads((folder / HEADER).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return False
    except OSError:  # too many open files, say
        return True
    return isinstance(content, dict) and content.get("generation") == number


def next_generation(folder: Path) -> int:
    """The number that the next save gives its files: one that no file there has."""
    return 1 + max((_generation(each.name) for each in folder.iterdir()), default=0)


def _is_ours(name: str) -> bool:
    known = name in OLD_FILES or name in {HEADER, writer_lock.NAME}
    return known or _generation(name) > 0 or DRAFT.fullmatch(name) is not None


def _forget(folder: Path, which: Callable[[str], bool]) -> None:
    """Remove files of ours; one that cannot be removed now goes at the next save."""
    for each in folder.iterdir():
        if _is_ours(each.name) and which(each.name):
            if each.is_dir():
                shutil.rmtree(each, ignore_errors=True)
            else:
                each.unlink(missing_ok=True)

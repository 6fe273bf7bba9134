"""The folder of an index: ``index.json`` describes it, the other files hold its content.

Every save is a new *generation*. Its files are written beside those of the last one, with its number in their
names. They become the index when ``index.json``, which names the generation, is replaced in one step; then
the files of the last generation are removed. A process that dies at any moment leaves the old index or the
new one, and a reader sees one of the two. Nothing in the folder is code.

Opening an index compares its files with the hashes of the header. A large file that is only mapped into
memory is compared by its size, because hashing would read all of it; ``verify`` hashes it too.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from samekind import journal, storage
from samekind.errors import SpaceError
from samekind.index.contract import as_json
from samekind.plain_files import read_json

#: Where to write the file of a given name.
Place = Callable[[str], Path]

FORMAT = "samekind index"
VERSION = 3
OLDEST = 2
HEADER = "index.json"
JOURNAL = "journal.log"
LOCK = "lock"
LARGE = 64 * 2**20
#: The files of a generation, also of format 2; and those of format 1.
FILES = (
    "ids.txt",
    "metadata.jsonl",
    "vectors.npy",
    "structure.safetensors",
    "rows.npy",
    "structure.faiss",
    JOURNAL,
)
MAPPED = "vectors.npy"
OLD_FILES = {"items.jsonl", "vectors.safetensors"}
NUMBERED = re.compile("|".join(name.replace(".", r"\.(\d+)\.") for name in FILES))
DRAFT = re.compile(r"\.draft\.\w+|\.index\.json\.\w+\.draft")


def is_index(folder: Path) -> bool:
    """Whether a folder claims to be an index; `read` tells whether it is whole."""
    return (folder / HEADER).is_file()


def check_room(folder: Path) -> None:
    """Raise SpaceError if a folder holds anything other than an index."""
    if folder.exists() and not (folder.is_dir() and all(_is_ours(path.name) for path in folder.iterdir())):
        raise SpaceError(f"{folder} holds something other than an index; choose another folder to save to")


def write(
    folder: Path,
    content: Mapping[str, Any],
    *,
    files: Collection[str] = (),
    fill: Callable[[Place], None] | None = None,
) -> dict[str, Any]:
    """Write a generation, whole or not at all: the ``files`` that ``fill`` writes, an empty journal (if there
    are files), and the header, which is returned. An older index is replaced.

    Raises SpaceError if the folder holds anything else.
    """
    check_room(folder)
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    number = 1 + max((_generation(path.name) for path in folder.iterdir()), default=0)
    try:
        if fill is not None:
            fill(lambda name: folder / numbered(name, number))
        header = {
            "format": FORMAT,
            "version": VERSION,
            "generation": number,
            **content,
            "files": {name: _flushed(folder / numbered(name, number)) for name in files},
        }
        text = f"{as_json(header, indent=2)}\n"
        if files:
            journal.create(folder / numbered(JOURNAL, number))
        storage.write_text(folder / HEADER, text)
    except BaseException:
        # If Ctrl-C came after the rename, the save is done: the files that the header names must stay.
        if not _may_be_named(folder, number):
            _forget(folder, lambda name: _generation(name) == number)
            if is_new:
                shutil.rmtree(folder, ignore_errors=True)
        raise
    _forget(folder, lambda name: _generation(name) != number and name not in {HEADER, LOCK})
    return header


def tidy(folder: Path) -> None:
    """Remove what writers that died have left: drafts, and files of generations that are not in force.

    To be called by the one writer. Nothing is removed beside a header that cannot be read.
    """
    try:
        number = generation_of(folder, read(folder)) if is_index(folder) else 0
    except SpaceError:
        return
    _forget(folder, lambda name: _generation(name) not in (0, number) or bool(DRAFT.fullmatch(name)))


def read(
    folder: Path, *, backend: str | None = None, files: Collection[str] = (), verify: bool = False
) -> dict[str, Any]:
    """The header of an index of this backend (of any, if None), after a check of the given files.

    Raises SpaceError if the index is missing, damaged, foreign, half-written or of another format.
    """
    if folder.is_dir() and not is_index(folder) and _is_begun([path.name for path in folder.iterdir()]):
        raise SpaceError(
            f"{folder} is a half-written index: its first save was cut short; make the index again"
        )
    header = storage.read_header(folder, name=HEADER, what="an index", format_name=FORMAT, version=VERSION)
    if header["version"] < OLDEST:
        older = f"format {header['version']}, this one reads {OLDEST} and later"
        raise SpaceError(f"{folder} was saved by an older samekind ({older}); make the index again")
    if backend is not None and header.get("kind") != backend:
        raise SpaceError(f"{folder} is an index of another backend: {header.get('kind')}, not {backend}")
    for name in files:
        checked_path(folder, header, name, verify=verify)
    return header


def checked_path(folder: Path, header: Mapping[str, Any], name: str, *, verify: bool = False) -> Path:
    """As `path_of`; raises SpaceError if the file is not the one that was saved."""
    path = path_of(folder, header, name)
    saved = header["files"].get(name) if isinstance(header.get("files"), dict) else None
    if not isinstance(saved, dict):
        raise SpaceError(f"{folder} is damaged: {HEADER} does not name {name}; restore it or make it again")
    if not path.is_file():
        raise SpaceError(f"{folder} is damaged: {path.name} is missing; restore it or make the index again")
    size = path.stat().st_size
    whole = size == saved.get("bytes")
    # A wrong byte in a mapped array is a wrong number and nothing worse.
    if whole and (verify or name != MAPPED or size <= LARGE):
        with path.open("rb") as file:
            whole = hashlib.file_digest(file, "sha256").hexdigest() == saved.get("sha256")
    if not whole:
        raise SpaceError(
            f"{folder} is damaged: {path.name} is not the file it was saved with; "
            "restore it or make the index again"
        )
    return path


def path_of(folder: Path, header: Mapping[str, Any], name: str) -> Path:
    """The path of a file of the header's generation."""
    return folder / numbered(name, generation_of(folder, header))


def generation_of(folder: Path, header: Mapping[str, Any]) -> int:
    """The generation that a header names."""
    number = header.get("generation")
    if not isinstance(number, int):
        raise SpaceError(f"{folder} is damaged: {HEADER} has no generation; restore it or make it again")
    return number


def numbered(name: str, generation: int) -> str:
    """The name of a file in a generation.

    >>> numbered("vectors.npy", 3)
    'vectors.3.npy'
    """
    stem, dot, suffix = name.partition(".")
    return f"{stem}.{generation}{dot}{suffix}"


def _flushed(path: Path) -> dict[str, Any]:
    """Flush a file to the disk; returns its size and hash."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}


def _generation(name: str) -> int:
    """The generation a file belongs to; 0 for other files."""
    match = NUMBERED.fullmatch(name)
    return int(match[match.lastindex or 0]) if match else 0


def _is_begun(names: Collection[str]) -> bool:
    """Whether these are the leftovers of a first save that was killed: its lock alone, a draft, or files."""
    return set(names) == {LOCK} or any(_generation(name) or DRAFT.fullmatch(name) for name in names)


def _may_be_named(folder: Path, number: int) -> bool:
    """Whether the header on the disk is that of a generation, or cannot be read now."""
    try:
        content = read_json((folder / HEADER).read_bytes())
    except (FileNotFoundError, ValueError):
        return False
    except OSError:  # such as too many open files
        return True
    return isinstance(content, dict) and content.get("generation") == number


def _is_ours(name: str) -> bool:
    known = name in OLD_FILES or name in {HEADER, LOCK}
    return known or _generation(name) > 0 or DRAFT.fullmatch(name) is not None


def _forget(folder: Path, which: Callable[[str], bool]) -> None:
    """Remove files of ours; one that cannot be removed now goes at the next save."""
    for path in folder.iterdir():
        if not _is_ours(path.name) or not which(path.name):
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink()

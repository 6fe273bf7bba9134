"""The folder an index is kept in: ``index.json`` says what it is, the other files hold its content.

Nothing in the folder is code. Every file is checked against the hash it was saved with.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from samekind import storage
from samekind.errors import SpaceError

FORMAT = "samekind index"
VERSION = 1
HEADER = "index.json"


def is_index(folder: Path) -> bool:
    """Whether a folder claims to be an index; `read` tells whether it is a whole one."""
    storage.recover_folder(folder)
    return (folder / HEADER).is_file()


def write(
    folder: Path, content: Mapping[str, Any], *, files: Collection[str], fill: Callable[[Path], None]
) -> None:
    """Write a folder, whole or not at all: the ``files`` that ``fill`` puts into it, and the header.

    An older index is replaced; a folder that holds anything else is not.
    """
    if folder.exists() and storage.holds_something_else(folder, {HEADER, *files}):
        raise SpaceError(f"{folder} holds something else than an index; choose another folder to save to")

    def whole(draft: Path) -> None:
        fill(draft)
        hashes = {name: _hash(draft / name) for name in files}
        header = {"format": FORMAT, "version": VERSION, **content, "files": hashes}
        (draft / HEADER).write_text(json.dumps(header, indent=2) + "\n", encoding="utf-8")

    storage.write_folder(folder, whole)


def read(folder: Path, *, kind: str, files: Collection[str]) -> dict[str, Any]:
    """The header of an index of this kind whose files are all there and as they were saved.

    Anything damaged, foreign or newer is refused with a sentence.
    """
    storage.recover_folder(folder)
    header = storage.read_header(folder, name=HEADER, what="an index", form=FORMAT, version=VERSION)
    if header.get("kind") != kind:
        raise SpaceError(f"{folder} is an index of another kind: {header.get('kind')}, not {kind}")
    hashes = header.get("files")
    for name in files:
        if not (folder / name).is_file():
            raise SpaceError(f"{folder} is damaged: {name} is missing; restore it or make the index again")
        if not isinstance(hashes, dict) or _hash(folder / name) != hashes.get(name):
            raise SpaceError(
                f"{folder} is damaged: {name} is not the file it was saved with; "
                "restore it or make the index again"
            )
    return header


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

"""Pictures in folders, one folder for each class; an archive of such folders is read in place.

The class of a picture is the folder it lies in, by its path from the root: ``birds/owl`` where folders are
nested. Pictures that lie in the root itself have no class.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from samekind.data.files import PICTURES, TABLES, Archive, File, Member, is_hidden
from samekind.data.listing import Listing, class_order
from samekind.errors import MOST_LISTED, DataError

ARRAYS = frozenset({".npy"})


def list_folder(root: Path) -> Listing:
    """The pictures (or .npy arrays) below a folder."""
    names, folders = walk(root)
    return _listing(root.name or str(root), {name: root / name for name in names}, folders)


def list_archive(path: Path) -> Listing:
    """The pictures (or .npy arrays) inside a .zip file.

    Where all of them lie in one folder, as they do when a folder is packed, that is the root.
    """
    archive = Archive(path)
    names = [name for name in archive.members() if not is_hidden(name)]
    folders = [name for name in archive.folders() if not is_hidden(name)]
    items = [name for name in names if _is_item(name)]
    root = items[0][: wrapping(items)] if items else ""
    files: dict[str, File] = {name.removeprefix(root): Member(archive, name) for name in names}
    return _listing(path.stem, files, [name.removeprefix(root) for name in folders if f"{name}/" != root])


def wrapping(names: Sequence[str]) -> int:
    """How many characters all names of items share because all lie in one folder that is no class."""
    top = {PurePosixPath(name).parts[0] for name in names}
    inside = {PurePosixPath(name).parent.as_posix() for name in names}
    only = next(iter(top), "")
    return len(only) + 1 if len(top) == 1 and only not in inside and "." not in inside else 0


def walk(root: Path) -> tuple[list[str], list[str]]:
    """Files and folders below a root, as sorted paths from there with forward slashes; none is hidden."""
    found: list[tuple[Path, bool]] = []
    try:
        _descend(root, root, found, above=())
    except OSError as error:
        raise DataError(
            f"cannot read the folder {error.filename or root}: {error.strerror or error}"
        ) from error
    named = [(each.relative_to(root).as_posix(), is_folder) for each, is_folder in sorted(found)]
    return [name for name, is_folder in named if not is_folder], [
        name for name, is_folder in named if is_folder
    ]


def _descend(root: Path, folder: Path, found: list[tuple[Path, bool]], *, above: tuple[str, ...]) -> None:
    """Add what lies below a folder, and whether each is a folder. Links to folders are followed, because
    class folders are often gathered by links; one that leads back above itself is left out.
    """
    real = os.path.realpath(folder)
    for each in folder.iterdir():
        if is_hidden(each.relative_to(root).as_posix()):
            continue
        is_folder = each.is_dir()
        if is_folder and os.path.realpath(each) in (*above, real):
            continue
        found.append((each, is_folder))
        if is_folder:
            _descend(root, each, found, above=(*above, real))


def class_of(name: str) -> str:
    """The class of a file by its path from the root; none, an empty text, where it lies in the root."""
    parent = PurePosixPath(name).parent.as_posix()
    return "" if parent == "." else parent


def _is_item(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in PICTURES | ARRAYS


def _listing(name: str, files: dict[str, File], folders: Iterable[str]) -> Listing:
    items = sorted(each for each in files if _is_item(each))
    loose = [each for each in items if not class_of(each)]
    if loose and len(loose) == len(items):
        raise DataError(
            f"the pictures of {name} lie in no class folder ({loose[0]}, …); "
            "move them into one folder for each class, or give a .csv file that names path and label"
        )
    if loose:
        raise DataError(
            f"{len(loose)} of the {len(items)} pictures of {name} lie in no class folder: "
            f"{', '.join(loose[:MOST_LISTED])}; move or remove them"
        )
    tables = [each for each in files if PurePosixPath(each).suffix.lower() in TABLES and class_of(each)]
    if tables and items:
        raise DataError(
            f"{name} has pictures and tables in its class folders ({tables[0]}); give one kind of items"
        )
    labels = [class_of(each) for each in items]
    return Listing(
        name=name,
        files=[files[each] for each in items],
        labels=labels,
        ids=items,
        empty=class_order(_without_files(folders, labels)),
        foreign=sorted(set(files) - set(items)),
    )


def _without_files(folders: Iterable[str], labels: Iterable[str]) -> list[str]:
    """The folders in and below which there is no item."""
    filled = {str(parent) for label in set(labels) for parent in [label, *PurePosixPath(label).parents]}
    return [each for each in folders if each not in filled]

"""A folder of pictures, sounds or .npy arrays, with a folder for each class.

The class of a file is the folder it lies in, by its path from the root: ``birds/owl`` where folders are
nested. Files in the root itself have no class.

With the setting ``domain = "folder"`` the first folder is the domain of a file and the rest its class: that
is the form of PACS, ``domain/class/picture``.

The class of a sound is the first folder, and the folders inside it are sessions, which are groups: that is
the form of VoxCeleb, ``speaker/session/utterance.wav``.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from samekind.data.files import TABLES, File, is_hidden
from samekind.data.media import SOUNDS, Medium, Reader, medium_of_files
from samekind.data.settings import DataSettings
from samekind.data.sources import npy, tables
from samekind.data.sources.format import Block, Use, may_read
from samekind.data.sources.listing import Listing, class_order
from samekind.data.sources.table_files import is_table
from samekind.errors import MOST_LISTED, DataError

#: The setting ``domain`` that takes the first folder for the domain.
BY_FOLDER = "folder"

FORMAT = "a folder of class folders with pictures, sounds or .npy arrays"


def recognises(path: Path, settings: DataSettings, reader: Reader | None) -> bool:
    """Any folder."""
    return path.is_dir()


def labelled(path: Path, settings: DataSettings) -> Listing:
    """The pictures, sounds or .npy arrays below a folder."""
    names, folders = walk(path)
    files: dict[str, File] = {name: path / name for name in names}
    return listing_of(path.name or str(path), files, folders, domains=settings.domain == BY_FOLDER)


def unlabelled(path: Path, use: Use) -> Iterator[Block]:
    """All files below a folder that the reader may read, with their folders as labels. A reader that takes
    columns by name reads tables and arrays of many rows too.
    """
    names = [name for name in walk(path)[0] if may_read(use.reader, name)]
    if use.reader.columns:
        for name in names:
            format = tables if is_table(path / name) else npy
            yield from format.unlabelled(path / name, use)
        return
    files: list[File] = [path / name for name in names]
    yield Block(files, [str(file) for file in files], *labels_and_sessions(names, use.reader.medium))


def walk(root: Path) -> tuple[list[str], list[str]]:
    """Files and folders below a root, as sorted paths from there with forward slashes; none is hidden."""
    entries: list[tuple[Path, bool]] = []
    try:
        _descend(root, root, entries, above=())
    except OSError as error:
        raise DataError(
            f"cannot read the folder {error.filename or root}: {error.strerror or error}"
        ) from error
    names: dict[bool, list[str]] = {False: [], True: []}
    for path, is_folder in sorted(entries):
        names[is_folder].append(path.relative_to(root).as_posix())
    return names[False], names[True]


def _descend(root: Path, folder: Path, entries: list[tuple[Path, bool]], *, above: tuple[str, ...]) -> None:
    """Add what lies below a folder as (path, is a folder). Links to folders are followed, because class
    folders are often gathered by links; a link that leads back above itself is left out.
    """
    real = os.path.realpath(folder)
    for path in folder.iterdir():
        if is_hidden(path.relative_to(root).as_posix()):
            continue
        is_folder = path.is_dir()
        if is_folder and os.path.realpath(path) in (*above, real):
            continue
        entries.append((path, is_folder))
        if is_folder:
            _descend(root, path, entries, above=(*above, real))


def class_of(name: str) -> str:
    """The class of a file by its path from the root; an empty text if it lies in the root."""
    parent = PurePosixPath(name).parent.as_posix()
    return "" if parent == "." else parent


def labels_and_sessions(names: Sequence[str], medium: Medium) -> tuple[list[str | None], list[str] | None]:
    """The class of each file, None for those in the root, and the sessions of sounds: the folders they lie
    in, if any lies deeper than its class.

    >>> labels_and_sessions(["anna/may/1.wav", "anna/june/1.wav"], SOUNDS)
    (['anna', 'anna'], ['anna/may', 'anna/june'])
    """
    folders = [class_of(name) for name in names]
    if medium is not SOUNDS:
        return [folder or None for folder in folders], None
    speakers = [folder.partition("/")[0] for folder in folders]
    return [speaker or None for speaker in speakers], folders if folders != speakers else None


def items_among(names: Iterable[str]) -> tuple[list[str], Medium]:
    """The files that are items, and what they are: those of the medium that most of them have."""
    names = list(names)
    medium = medium_of_files(names)
    return [name for name in names if medium.takes(PurePosixPath(name).suffix)], medium


def listing_of(
    name: str, files: dict[str, File], folders: Iterable[str], *, domains: bool = False
) -> Listing:
    """The listing of files and folders by their paths; with ``domains`` the first folder is a domain."""
    among, medium = items_among(files)
    items = sorted(among)
    loose = [path for path in items if not class_of(path)]
    if loose and len(loose) == len(items):
        raise DataError(
            f"the {medium.name} of {name} lie in no class folder ({loose[0]}, …); "
            "move them into one folder for each class, or give a .csv file that names path and label"
        )
    if loose:
        raise DataError(
            f"{len(loose)} of the {len(items)} {medium.name} of {name} lie in no class folder: "
            f"{', '.join(loose[:MOST_LISTED])}; move or remove them"
        )
    misplaced = [path for path in files if PurePosixPath(path).suffix.lower() in TABLES and class_of(path)]
    if misplaced and items:
        raise DataError(
            f"{name} has {medium.name} and tables in its class folders ({misplaced[0]}); "
            f"give {medium.name} or a table"
        )
    first, inside = domains_and_rest(items, name) if domains else (None, items)
    known, sessions = labels_and_sessions(inside, medium)
    labels = [label or "" for label in known]
    return Listing(
        name=name,
        files=[files[path] for path in items],
        labels=labels,
        ids=items,
        domains=first,
        groups=sessions,
        empty=class_order(_without_files(folders, [class_of(path) for path in items])),
        foreign=sorted(set(files) - set(items)),
    )


def domains_and_rest(names: Sequence[str], source: str) -> tuple[list[str], list[str]]:
    """The first folder of each path, and the path inside it. Raises DataError if that has no class folder.

    >>> domains_and_rest(["sketch/dog/1.png", "photo/dog/7.png"], "pacs")
    (['sketch', 'photo'], ['dog/1.png', 'dog/7.png'])
    """
    both = [name.partition("/")[::2] for name in names]
    lacking = [name for name, (_, rest) in zip(names, both, strict=True) if not class_of(rest)]
    if lacking:
        raise DataError(
            f'{source}: with domain = "folder" a file lies in domain/class/; {lacking[0]} does not; move it, '
            "or leave out domain"
        )
    return [domain for domain, _ in both], [rest for _, rest in both]


def _without_files(folders: Iterable[str], labels: Iterable[str]) -> list[str]:
    """The folders that have no item in or below them."""
    filled = {str(parent) for label in set(labels) for parent in [label, *PurePosixPath(label).parents]}
    return [folder for folder in folders if folder not in filled]

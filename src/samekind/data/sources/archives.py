"""A .zip archive of class folders, read in place."""

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from samekind.data.files import Archive, File, Member, is_hidden
from samekind.data.media import Reader
from samekind.data.settings import DataSettings
from samekind.data.sources.folders import BY_FOLDER, items_among, labels_and_sessions, listing_of
from samekind.data.sources.format import Block, Use, may_read
from samekind.data.sources.listing import Listing

FORMAT = "a .zip of class folders"


def recognises(path: Path, settings: DataSettings, reader: Reader | None) -> bool:
    """Any .zip file."""
    return path.suffix.lower() == ".zip"


def labelled(path: Path, settings: DataSettings) -> Listing:
    """The pictures, sounds or .npy arrays inside. If all lie in one folder, that is the root."""
    archive = Archive(path)
    names = [name for name in archive.members() if not is_hidden(name)]
    folders = [name for name in archive.folders() if not is_hidden(name)]
    items, _ = items_among(names)
    root = items[0][: wrapping(items)] if items else ""
    files: dict[str, File] = {name.removeprefix(root): Member(archive, name) for name in names}
    inner = [name.removeprefix(root) for name in folders if f"{name}/" != root]
    return listing_of(path.stem, files, inner, domains=settings.domain == BY_FOLDER)


def unlabelled(path: Path, use: Use) -> Iterator[Block]:
    """All files that the reader may read, with their folders as labels."""
    archive = Archive(path)
    members = sorted(name for name in archive.members() if not is_hidden(name))
    names = [name for name in members if may_read(use.reader, name)]
    files: list[File] = [Member(archive, name) for name in names]
    cut = wrapping(names)
    inside = [name[cut:] for name in names]
    yield Block(files, [str(file) for file in files], *labels_and_sessions(inside, use.reader.medium))


def wrapping(names: Sequence[str]) -> int:
    """How many characters all names share because all lie in one folder that is not a class."""
    top = {PurePosixPath(name).parts[0] for name in names}
    parents = {PurePosixPath(name).parent.as_posix() for name in names}
    only = next(iter(top), "")
    return len(only) + 1 if len(top) == 1 and only not in parents and "." not in parents else 0

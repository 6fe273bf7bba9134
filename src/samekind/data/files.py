"""Files on the disk, and in archives that are read in place."""

import hashlib
import lzma
import math
import os
import threading
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from samekind.errors import DataError

TABLES = frozenset({".csv", ".tsv", ".parquet"})

_WINDOWS = 0  # in a .zip file: made on Windows or MS-DOS
_UTF_8 = 0x800  # the flag of names in UTF-8; the others are in the encoding of MS-DOS

DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError)
DEFLATED = 1032  # the most bytes that one deflated byte can stand for

#: The largest member of an archive, in bytes, that is unpacked into memory.
MOST_UNPACKED = 2**30


class Archive:
    """A .zip file whose members are read in place, from any thread, one at a time."""

    def __init__(self, path: Path, *, what: str = "a .zip archive") -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            self._zip = zipfile.ZipFile(path)
        except FileNotFoundError:
            raise DataError(f"there is no file {path}") from None
        # A NotImplementedError is an archive of a later version, or one whose version is damaged.
        # A ValueError is a name that is not text.
        except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile) as error:
            raise DataError(f"cannot read {path} as {what}: {error}") from error
        # The last of several members with one name counts, as in unpacking.
        self._inside = {_name(member): member for member in self._zip.infolist() if _name(member)}

    def __reduce__(self) -> tuple[Any, ...]:
        # An open file and a lock cannot be sent to another process; the path can.
        return Archive, (self.path,)

    def members(self) -> list[str]:
        """The names of the files inside, without folders, in the order of the archive."""
        return [name for name in self._inside if not name.endswith("/")]

    def folders(self) -> list[str]:
        """The names of the folders that have an entry, without the closing slash."""
        return [name.rstrip("/") for name in self._inside if name.endswith("/")]

    def read(self, name: str) -> bytes:
        """The bytes of one member."""
        with self.opened(name, most=MOST_UNPACKED) as (stream, _):
            return stream.read()

    @contextmanager
    def opened(self, name: str, *, most: float = math.inf) -> Iterator[tuple[BinaryIO, int]]:
        """One member to be read, of ``most`` bytes, and its size; other threads wait until it is closed.

        Raises DataError if it cannot be unpacked, also for a ValueError of the reader.
        """
        inside = self._inside.get(name)
        if inside is None:
            raise DataError(f"there is no file {name} in {self.path}")
        if inside.file_size > most:
            raise DataError(f"{name} in {self.path} unpacks to more than {most:,} bytes")
        if inside.file_size > _most_unpacked(inside):
            raise DataError(f"cannot unpack {name} from {self.path}: it is too short to hold what it claims")
        try:
            with self._lock, self._zip.open(inside) as stream:
                yield cast(BinaryIO, stream), inside.file_size
        # A password is a RuntimeError, an unknown compression a NotImplementedError, damage any of the rest.
        except (OSError, ValueError, RuntimeError, EOFError, *DAMAGE) as error:
            raise DataError(f"cannot unpack {name} from {self.path}: {error}") from error


def _most_unpacked(inside: zipfile.ZipInfo) -> int:
    """The most bytes that a member can unpack to, by its compression."""
    if inside.compress_type == zipfile.ZIP_STORED:
        return inside.compress_size
    return (
        DEFLATED * (inside.compress_size + 1)
        if inside.compress_type == zipfile.ZIP_DEFLATED
        else MOST_UNPACKED
    )


def _name(inside: zipfile.ZipInfo) -> str:
    """The name of a member from the root of the archive, with forward slashes; a folder ends in one.

    As in unpacking, a name cannot lead out of the archive: a slash in front, "." and ".." are left out. Some
    programs for Windows write backslashes, against the rules. As in unzip, they count as slashes if the
    archive was made on Windows and the name has no slash.
    """
    name = inside.filename if inside.flag_bits & _UTF_8 else _without_flag(inside.filename)
    if inside.create_system == _WINDOWS and "/" not in name:
        name = name.replace("\\", "/")
    parts = [part for part in name.split("/") if part not in ("", ".", "..")]
    return "/".join(parts) + ("/" if parts and name.endswith("/") else "")


def _without_flag(name: str) -> str:
    """A name without the flag: those of macOS are UTF-8 all the same."""
    try:
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return name


class Member(NamedTuple):
    """One file inside an archive."""

    archive: Archive
    name: str

    def __str__(self) -> str:
        return f"{self.archive.path}/{self.name}"

    @property
    def suffix(self) -> str:
        return Path(self.name).suffix


class Upload(NamedTuple):
    """The content of a file in memory, with the name it came by."""

    name: str
    content: bytes

    def __str__(self) -> str:
        return self.name

    @property
    def suffix(self) -> str:
        return Path(self.name).suffix


File = Path | Member | Upload


#: What a reader takes: a file, or the content of one without a name.
Readable = File | bytes


def opened(file: Readable) -> BinaryIO:
    """The file, to be read and closed. Raises DataError for a broken archive, else OSError."""
    if isinstance(file, bytes):
        return BytesIO(file)
    if isinstance(file, Upload):
        return BytesIO(file.content)
    return BytesIO(file.archive.read(file.name)) if isinstance(file, Member) else file.open("rb")


def name_of(file: Readable) -> str:
    """The name of a file in a message."""
    return f"{len(file):,} bytes" if isinstance(file, bytes) else str(file)


def digest(file: File) -> bytes:
    """SHA-256 of a file's bytes."""
    try:
        with opened(file) as content:
            return hashlib.file_digest(content, "sha256").digest()  # type: ignore[arg-type]
    except OSError as error:
        raise DataError(f"cannot read {file}: {error.strerror or error}") from error


def is_array(file: Readable) -> bool:
    """Whether a file is a single array (.npy), by its name or, in memory, by how its bytes begin."""
    content = file.content if isinstance(file, Upload) else file
    return (
        content.startswith(b"\x93NUMPY") if isinstance(content, bytes) else content.suffix.lower() == ".npy"
    )


def exists(path: Path) -> bool:
    """Whether a file or folder exists; False, and no error, for a name that no file can have."""
    return os.path.exists(path)  # noqa: PTH110 (`Path.exists` raises OSError for a name that is too long)


def is_hidden(name: str) -> bool:
    """Whether a path is hidden or left behind by a system: .DS_Store, Thumbs.db, __MACOSX/…"""
    parts = name.split("/")
    return any(part.startswith(".") or part == "__MACOSX" for part in parts) or parts[-1] in {
        "Thumbs.db",
        "desktop.ini",
    }

"""Vectors under ids, with metadata, in the order they were added: the content of an index in a folder.

A vector has a *row*, its number in the order of additions. A removal leaves its row empty, so that no other
row moves; `Store.compact` and `Store.rebase` close the gaps and return where each row went. What was read
from a folder stays there, mapped into memory; later additions are in memory: two segments.
"""

import mmap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from samekind.errors import SpaceError
from samekind.index import folder as folders
from samekind.index.changes import Change
from samekind.index.contract import Metadata, check_list, refuse_unknown
from samekind.plain_files import map_npy, read_json

FILES = ("ids.txt", "metadata.jsonl", "vectors.npy")
CHUNK = 65_536  # vectors that are written at a time
FEWEST_GONE = 1_000  # rows that have to be empty before closing the gaps is worth a thought


class Store:
    """Vectors (n, dimension), float32, each under an id. Changes have been checked before."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._rows: dict[str, int] = {}  # in the order added
        self._names: list[str] = []  # of every row, also of the empty ones
        self._first = torch.empty(0, dimension)
        self._first_texts: _Lines | list[str] = []
        self._added = torch.empty(0, dimension)  # with room for more
        self._added_texts: list[str] = []
        self._gone: set[int] = set()
        self.version = 0  # rises with every change
        self.moves = 0  # rises when rows move
        self._alive: tuple[int, Tensor | None] = (0, None)  # at a version

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, id: object) -> bool:
        return id in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    @property
    def height(self) -> int:
        """The number of rows, empty ones included."""
        return len(self._names)

    @property
    def wasteful(self) -> bool:
        """Whether more than half of the rows are empty, and many."""
        return len(self._gone) > max(FEWEST_GONE, len(self))

    def rows(self, ids: Sequence[str]) -> Tensor:
        """The rows (n,) of ids; a missing id is an error."""
        try:
            return torch.tensor([self._rows[id] for id in ids], dtype=torch.int64)
        except KeyError as error:
            refuse_unknown(error.args[0], self._rows)

    def names(self, rows: Sequence[int]) -> list[str]:
        """The ids of rows."""
        return [self._names[row] for row in rows]

    def metadata(self, ids: Sequence[str]) -> list[Metadata]:
        """The metadata of these ids, in their order."""
        check_list(ids)
        return [_metadata(id, self._text(row)) for id, row in zip(ids, self.rows(ids).tolist(), strict=True)]

    def alive(self) -> Tensor | None:
        """Which rows are not empty, (height,); None if all are filled."""
        if self._alive[0] != self.version:
            alive = None
            if self._gone:
                alive = torch.ones(self.height, dtype=torch.bool)
                alive[list(self._gone)] = False
            self._alive = (self.version, alive)
        return self._alive[1]

    def segments(self) -> list[tuple[int, Tensor]]:
        """All rows, empty ones too: the first row of each segment, and its vectors."""
        pieces = [(0, self._first), (len(self._first), self._added[: len(self._added_texts)])]
        return [(start, vectors) for start, vectors in pieces if len(vectors)]

    def at(self, rows: Tensor) -> Tensor:
        """The vectors (n, dimension) of rows (n,)."""
        behind = rows >= len(self._first)
        if not behind.any():
            return self._first[rows]
        vectors = torch.empty(len(rows), self.dimension)
        vectors[~behind] = self._first[rows[~behind]]
        vectors[behind] = self._added[rows[behind] - len(self._first)]
        return vectors

    def vectors(self, ids: Sequence[str] | None = None) -> Tensor:
        """The vectors of ids; if None, all in the order added, which must not be written to."""
        if ids is not None:
            return self.at(self.rows(ids))
        segments = self.segments()
        if not self._gone and len(segments) == 1:
            return segments[0][1]
        return self.at(torch.tensor(list(self._rows.values()), dtype=torch.int64))

    def apply(self, change: Change) -> None:
        """Carry out a change that was checked."""
        if change.vectors is not None:
            self.lay_ready(change.vectors)
        self.count(change, row=self.height)

    def lay_ready(self, vectors: Tensor) -> Tensor:
        """Copy vectors behind the last row, where no reader sees them until they count. Returns the copy."""
        held = len(self._added_texts)
        needed = held + len(vectors)
        if needed > len(self._added):
            # At least twice the room, so that an addition rarely moves the earlier vectors.
            room = torch.empty(max(needed, 2 * held), self.dimension)
            room[:held] = self._added[:held]
            self._added = room
        self._added[held:needed] = vectors
        return self._added[held:needed]

    def count(self, change: Change, *, row: int) -> None:
        """Carry out a change whose vectors, if any, lie ready from ``row`` on, where the rows ended.

        Interrupted anywhere, it is finished by the same call once more: every step may be done twice.
        """
        self.version += 1
        for id in change.ids:
            if (old := self._rows.get(id, row)) < row:
                self._gone.add(old)
                del self._rows[id]
        if change.vectors is None:
            return
        self._names[row:] = change.ids
        self._added_texts[row - len(self._first) :] = change.texts
        self._rows |= zip(change.ids, range(row, row + len(change.ids)), strict=True)

    def write(self, place: folders.Place) -> None:
        """Write the files of a snapshot: the filled rows, in their order."""
        ids = "".join(f"{id}\0" for id in self._rows)
        place("ids.txt").write_bytes(ids.encode("utf-8", "surrogatepass"))
        with place("metadata.jsonl").open("w", encoding="utf-8", newline="\n") as lines:
            lines.writelines(f"{self._text(row)}\n" for row in self._rows.values())
        rows = torch.tensor(list(self._rows.values()), dtype=torch.int64)
        with place("vectors.npy").open("wb") as file:
            shape = (len(self), self.dimension)
            description = {"descr": "<f4", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, description)
            for start in range(0, len(rows), CHUNK):
                vectors = self.at(rows[start : start + CHUNK])
                file.write(np.ascontiguousarray(vectors.numpy(), dtype="<f4").data)

    def rebase(self, folder: Path, header: Mapping[str, Any]) -> Tensor:
        """Replace what is in memory by the snapshot that was just written of it; gaps close.

        Returns the new row of each old row (height,), -1 for an empty one.
        """
        return self._moved(_mapped(folder, header, len(self), self.dimension), _Lines(folder, header))

    def compact(self) -> Tensor:
        """Close the gaps, in memory. Returns the new row of each old row (height,), -1 for an empty one."""
        return self._moved(self.vectors(), [self._text(row) for row in self._rows.values()])

    def closed(self) -> Tensor:
        """The row of each row (height,) once the gaps are closed, -1 for an empty one."""
        moved = torch.full((self.height,), -1, dtype=torch.int64)
        moved[list(self._rows.values())] = torch.arange(len(self))
        return moved

    def _moved(self, vectors: Tensor, texts: "_Lines | list[str]") -> Tensor:
        moved = self.closed()
        fresh = self._of(self.dimension, list(self._rows), vectors, texts)
        fresh.version, fresh.moves = self.version + 1, self.moves + 1
        vars(self).update(vars(fresh))  # one step, which Ctrl-C does not tear
        return moved

    @classmethod
    def _of(cls, dimension: int, names: list[str], vectors: Tensor, texts: "_Lines | list[str]") -> "Store":
        store = cls(dimension)
        store._names, store._first, store._first_texts = names, vectors, texts
        store._rows = dict(zip(names, range(len(names)), strict=True))
        return store

    def _text(self, row: int) -> str:
        behind = row - len(self._first)
        return self._first_texts[row] if behind < 0 else self._added_texts[behind]

    @classmethod
    def read(cls, folder: Path, header: Mapping[str, Any]) -> "Store":
        """The snapshot of a header; vectors and metadata are read on demand."""
        dimension = header["dimension"]
        content = folders.path_of(folder, header, "ids.txt").read_bytes()
        names = content.decode("utf-8", "surrogatepass").split("\0")[:-1]
        if len(names) != header["count"]:
            raise SpaceError(f"{folder} is damaged: {len(names)} ids for {header['count']} vectors")
        if len(set(names)) < len(names):
            raise SpaceError(f"{folder} is damaged: an id comes twice; restore it or make the index again")
        vectors = _mapped(folder, header, len(names), dimension)
        return cls._of(dimension, names, vectors, _Lines(folder, header))


class _Lines:
    """The lines of a file that is mapped into memory, found at first use."""

    def __init__(self, folder: Path, header: Mapping[str, Any]) -> None:
        path = folders.path_of(folder, header, "metadata.jsonl")
        with path.open("rb") as file:
            # A file of no bytes cannot be mapped.
            self._content = (
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if path.stat().st_size else b""
            )
        self._ends: Any = None

    def __len__(self) -> int:
        if self._ends is None:
            self._ends = np.flatnonzero(np.frombuffer(self._content, dtype=np.uint8) == ord("\n"))
        return len(self._ends)

    def __getitem__(self, place: int) -> str:
        if place >= len(self):
            return ""
        start = int(self._ends[place - 1]) + 1 if place else 0
        return self._content[start : int(self._ends[place])].decode(errors="replace")


def _metadata(id: str, text: str) -> Metadata:
    """The metadata in a line of an id."""
    try:
        entry = read_json(text)
    except ValueError:
        entry = None
    if not isinstance(entry, dict):
        raise SpaceError(f'the index is damaged: it has no metadata of "{id}"; make it again')
    return entry


def _mapped(folder: Path, header: Mapping[str, Any], count: int, dimension: int) -> Tensor:
    """The vectors of a snapshot, mapped into memory."""
    path = folders.path_of(folder, header, "vectors.npy")
    if not count:
        return torch.empty(0, dimension)
    # Copy on write: torch wants writable memory, and the file stays as it is.
    array = map_npy(path)
    if array.dtype != np.dtype("<f4") or array.shape != (count, dimension):
        raise SpaceError(
            f"{folder} is damaged: {path.name} holds {array.dtype} {array.shape}, "
            f"expected float32 ({count}, {dimension}); restore it or make the index again"
        )
    return torch.from_numpy(array)

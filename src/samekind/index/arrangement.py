"""The vectors of a store in a FAISS structure: the row of each label, and the rows that are not in it yet.

A structure is built when it is first needed. Later additions wait *beside* it, compared one by one, until
there are enough to be worth adding. Removed vectors stay in it and are passed over until a third is gone.
Lists and codes are fitted anew when there are twice as many vectors as they were made for.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from samekind.errors import SpaceError
from samekind.index import folder as folders
from samekind.index import structure
from samekind.index import structure_sizes as sizes
from samekind.index.best import best_of
from samekind.index.contract import Score, as_similarity
from samekind.index.store import Store
from samekind.index.structure import Structure
from samekind.index.structure_files import from_arrays, to_arrays
from samekind.settings import Natural, typed
from samekind.similarities import blocks

FILE = "structure.safetensors"
PLAIN_ARRAYS = 3  # the format of a folder from which on a structure is plain arrays
CHUNK = 65_536  # vectors that are put into a structure at a time
MOST_BESIDE = 1_000  # vectors that may wait beside the structure
MOST_GONE = 1 / 3  # of a structure's vectors that may be removed


class Arrangement:
    """A structure of one name ("auto": by size and memory), and how it follows a store."""

    def __init__(
        self,
        dimension: int,
        score: Score,
        *,
        name: Literal["auto"] | sizes.StructureName,
        memory: int | None,
        seed: int,
    ) -> None:
        self.dimension = dimension
        self.score = score
        self.name = name
        self.memory = memory
        self.seed = seed
        self.structure: Structure | None = None
        self._rows = torch.empty(0, dtype=torch.int64)  # of each label; -1 if its vector was removed
        self._behind = 0  # the first row that is not in the structure
        self._moves = 0  # of the store, that the rows have followed
        self._gone = 0  # the number of labels whose vectors were removed
        self._known_alive: tuple[int, Tensor | None] | None = None  # at a version of the store

    def arrange(self, store: Store, *, most_beside: int = MOST_BESIDE) -> None:
        """Update the structure, leaving at most so many rows beside it.

        While it changes, ``structure`` is None: an interrupted update is built anew.
        """
        if self.structure is None or self._moves != store.moves:
            self._begin_anew(store)
        if store.wasteful:
            self.follow(store.compact(), store)
        if self.structure is not None and self._outgrown(store):
            self._begin_anew(store)
        if len(beside := self.beside(store)) <= most_beside:
            return
        built, self.structure = self.structure, None
        if built is None:
            built = self._laid_out(store, beside)
        for chunk in torch.split(beside, CHUNK):
            built.add(store.at(chunk))
        self._rows, self._behind = torch.cat([self._rows, beside]), store.height
        self._known_alive = None
        self.structure = built

    def beside(self, store: Store) -> Tensor:
        """The filled rows (n,) that are not in the structure."""
        rows, alive = torch.arange(self._behind, store.height), store.alive()
        return rows if alive is None else rows[alive[self._behind :]]

    def follow(self, moved: Tensor, store: Store) -> None:
        """Follow the rows of the store to their new places ``moved`` (height,), -1 for a row that is gone."""
        built, self.structure = self.structure, None
        self._rows = _followed(self._rows, moved)
        self._behind = int((moved[: self._behind] >= 0).sum())
        self._known_alive = None
        self._moves = store.moves
        self.structure = built

    def candidates(self, store: Store, queries: Tensor, wanted: int, *, effort: int | None) -> Tensor:
        """The candidate rows (q, c) of each query, to find the wanted best among; -1 fills up."""
        assert self.structure is not None
        built = self.structure
        count = sizes.candidates_for(built.name, wanted)
        effort = effort or sizes.effort_for(built.name, built.lists, candidates=count, count=len(built))
        effort = min(effort, len(built))  # memory is taken for so many
        labels = built.nearest(queries, count, effort=effort, alive=self._alive(store))
        rows = self._rows[labels].where(labels >= 0, -1)
        beside = self.beside(store)
        if not len(beside):
            return rows
        walk = blocks(as_similarity(None, score=self.score), queries, store.at(beside))
        return torch.cat([rows, beside[best_of(walk, k=wanted)[1]]], dim=1)

    def describe(self) -> dict[str, Any] | None:
        """The entries of the header for reading the structure back; None without a structure to write.

        A flat one is as quickly filled as read.
        """
        if self.structure is None or self.structure.name == "flat":
            return None
        return {"kind": self.structure.name, "built for": self.structure.built_for}

    def write(self, place: folders.Place, store: Store) -> None:
        """Write the file of a snapshot, with rows as they are once the store's gaps are closed.

        All rows must be in the structure, if there is one.
        """
        arrays = {}
        if self.structure is not None and self.describe() is not None:
            arrays = to_arrays(self.structure, _followed(self._rows, store.closed()))
        # Not save_file: it leaves a draft of its own name if killed, and a file that only its owner can read.
        place(FILE).write_bytes(safetensors.torch.save(arrays))

    def read(self, folder: Path, header: Mapping[str, Any], store: Store) -> None:
        """Read what was written; the journal of the store may have grown since.

        A structure of an earlier version is a file of FAISS, which is not read: it is built anew.
        """
        described = typed(dict[str, Any] | None, header["structure"], "structure")
        if described is None or header["version"] < PLAIN_ARRAYS:
            return
        path = folders.checked_path(folder, header, FILE)
        try:
            arrays = safetensors.torch.load_file(path)
            built, rows = from_arrays(
                arrays,
                typed(Literal["hnsw", "ivf", "pq"], described["kind"], "structure.kind"),
                self.dimension,
                self.score,
                built_for=typed(Natural, described["built for"], "structure.built for"),
                count=header["count"],
                at=store.at,
            )
        except (safetensors.SafetensorError, ValueError) as error:
            raise SpaceError(
                f"{folder} is damaged: {path.name} is not of these vectors ({error}); make the index again"
            ) from error
        self._rows, self._behind, self._moves = rows, header["count"], store.moves
        self._known_alive = None
        self.structure = built

    def _begin_anew(self, store: Store) -> None:
        self.structure = None
        self._rows, self._behind, self._known_alive = self._rows[:0], 0, None
        self._moves = store.moves

    def _outgrown(self, store: Store) -> bool:
        """Whether the structure should be built anew."""
        assert self.structure is not None
        if self._alive(store) is not None and self._gone > MOST_GONE * len(self._rows):
            return True
        if len(store) <= 2 * self.structure.built_for:
            return False
        wanted = self._wanted(len(store))
        if wanted == self.structure.name in ("flat", "hnsw"):
            self.structure.built_for = len(store)
        return wanted != self.structure.name or wanted in ("ivf", "pq")

    def _wanted(self, count: int) -> sizes.StructureName:
        memory = sizes.memory_here() if self.memory is None else self.memory
        name = sizes.structure_for(count, self.dimension, memory=memory) if self.name == "auto" else self.name
        return sizes.buildable(name, count)

    def _laid_out(self, store: Store, rows: Tensor) -> Structure:
        """An empty structure for these rows, fitted to a sample of them."""
        name = self._wanted(len(rows))
        draw = torch.Generator().manual_seed(self.seed)
        chosen = torch.randperm(len(rows), generator=draw)[: sizes.sample_for(name, len(rows))]
        sample = store.at(rows[chosen.sort().values])
        return structure.build(
            name, self.dimension, self.score, count=len(rows), sample=sample, seed=self.seed
        )

    def _alive(self, store: Store) -> Tensor | None:
        """Which labels are not gone; None if all are there. Computed once for each version of the store."""
        if self._known_alive is None or self._known_alive[0] != store.version:
            alive = store.alive()
            labels = self._rows >= 0
            if alive is not None:
                labels &= alive[self._rows]
            self._gone = len(labels) - int(labels.sum())
            self._known_alive = (store.version, labels if self._gone else None)
        return self._known_alive[1]


def _followed(rows: Tensor, moved: Tensor) -> Tensor:
    """The new places of rows, some of which were gone (-1) before."""
    return torch.where(rows >= 0, moved[rows], -1) if len(moved) else rows

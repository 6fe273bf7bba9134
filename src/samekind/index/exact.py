"""The exact index: every query is compared with every stored vector, block by block."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor

from samekind.index import contract
from samekind.index.best import best_of
from samekind.index.contract import Found, Metadata, Score, Scorer
from samekind.index.durable import DurableStore, heading, settled
from samekind.index.store import Store
from samekind.similarities import Similarity, blocks


class Exact:
    """Stored vectors (n, dimension), float32, each under an id, and the best of them for a query.

    ``score`` is the cosine, the inner product ("dot") or the negative distance ("euclidean").
    ``fingerprint`` is that of the space the vectors come from (`space_fingerprint`), or empty.

    Once it was saved to a folder or opened from one, the index lives there: an addition or removal is in the
    folder's journal when it returns. The next ``save`` empties the journal.

    >>> index = Exact(2, score="dot")
    >>> index.add(["north", "east"], torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
    >>> index.search(torch.tensor([[0.1, 0.9]]), 5).ids
    [['north', 'east']]
    """

    backend = "Exact"
    exact, remote = True, False
    built = url = name = None

    def __init__(self, dimension: int, *, score: Score = "cosine", fingerprint: str = "") -> None:
        contract.check_made(dimension, score)
        self.dimension = dimension
        self.score: Score = score
        self.fingerprint = fingerprint
        self.notes: dict[str, Any] = {}
        self._durable = DurableStore(dimension)

    def __len__(self) -> int:
        return len(self._durable.store)

    def __contains__(self, id: object) -> bool:
        return id in self._durable.store

    def __iter__(self) -> Iterator[str]:
        return iter(self._durable.store)

    def metadata(self, ids: Sequence[str]) -> list[Metadata]:
        return self._durable.store.metadata(ids)

    def vectors(self, ids: Sequence[str] | None = None) -> Tensor:
        """As `Index.vectors`; all of them are the index's own memory, not to be written to."""
        return self._durable.store.vectors(ids)

    def add(
        self,
        ids: Sequence[str],
        vectors: Tensor,
        metadata: Sequence[Metadata] | None = None,
        *,
        replace: bool = False,
    ) -> None:
        self._durable.add(ids, vectors, metadata, replace=replace)

    def remove(self, ids: Sequence[str]) -> None:
        self._durable.remove(ids)

    def search(
        self, queries: Tensor, k: int, *, scorer: Scorer | None = None, memory_budget: int | None = None
    ) -> Found:
        """The min(k, n) best stored vectors of each query (q, dimension), compared on the queries' device.

        ``scorer`` replaces the index's own score: a similarity such as ``space.scorer()``, or a function of
        queries and vectors that returns all scores. Two scores are equal if they are so to the last digit.
        """
        queries = contract.checked_queries(queries, k, dimension=self.dimension)
        if self._durable.store.wasteful:
            self._durable.store.compact()
        similarity = contract.as_similarity(scorer, score=self.score)
        return exhaustive(self._durable.store, similarity, queries, k, memory_budget=memory_budget)

    def save(self, folder: str | Path) -> None:
        """Write the index to a folder, whole or not at all, and live there; replaces an older index."""
        self._durable.save(Path(folder), heading(self))

    @classmethod
    def open(cls, folder: str | Path, *, fingerprint: str | None = None, verify: bool = False) -> Self:
        """Read an index, and live in its folder from now on.

        Raises SpaceError if it is damaged, or of another space than ``fingerprint``. The vectors are mapped
        into memory, so that a large index opens at once; ``verify`` compares them with their hash.
        """
        return settled(Path(folder), lambda: cls._read(Path(folder), fingerprint, verify))

    @classmethod
    def _read(cls, folder: Path, fingerprint: str | None, verify: bool) -> Self:
        durable, header = DurableStore.read(folder, cls.backend, fingerprint=fingerprint, verify=verify)
        index = cls(header["dimension"], score=header["score"], fingerprint=header["fingerprint"])
        index.notes, index._durable = header["notes"], durable
        return index

    def close(self) -> None:
        """Let others write to the folder; this index can still be searched."""
        self._durable.close()


def exhaustive(
    store: Store, similarity: Similarity, queries: Tensor, k: int, *, memory_budget: int | None = None
) -> Found:
    """The min(k, n) best vectors of a store for each query, by comparing all."""
    k = min(k, len(store))
    if not len(queries) or not k:
        return Found(torch.empty(len(queries), k), [[] for _ in queries])
    alive = store.alive()
    values, rows = [], []
    for start, vectors in store.segments():
        here = None if alive is None else alive[start : start + len(vectors)]
        if here is not None and not here.any():
            continue
        with torch.no_grad():
            walk = blocks(similarity, queries, vectors.to(queries.device), memory_budget=memory_budget)
            best, which = best_of(walk if here is None else _living(walk, here), k=k)
        values.append(best)
        rows.append(start + (which if here is None else here.nonzero().flatten()[which]))
    # Earlier rows stand first, so that a stable sort keeps equal scores in the order added.
    scores, order = torch.cat(values, dim=1).sort(dim=1, descending=True, stable=True)
    places = torch.cat(rows, dim=1).gather(1, order)[:, :k]
    return Found(scores[:, :k], [store.names(row) for row in places.tolist()])


def _living(
    walk: Iterator[tuple[slice, slice, Tensor]], alive: Tensor
) -> Iterator[tuple[slice, slice, Tensor]]:
    """The blocks without the columns of empty rows; the other columns are numbered anew."""
    before = torch.cat([torch.zeros(1, dtype=torch.int64), alive.cumsum(0)]).tolist()
    for rows, columns, scores in walk:
        living = slice(before[columns.start], before[columns.stop])
        if living.stop > living.start:
            whole = living.stop - living.start == columns.stop - columns.start
            yield rows, living, scores if whole else scores[:, alive[columns].to(scores.device)]

"""The index on FAISS: a structure finds candidates, the stored vectors themselves give the scores.

The vectors are stored as in the exact index (mapped from the disk once there is a folder): they come back to
the last digit, a removal needs no rebuilding, and another scorer can be used. The structure has its own copy
in memory, except "pq", which has codes; on the disk "flat" and "hnsw" have none.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import torch
from torch import Tensor

from samekind.errors import SettingError, nearest
from samekind.index import arrangement, contract
from samekind.index import structure_sizes as sizes
from samekind.index.arrangement import Arrangement
from samekind.index.contract import Found, Metadata, Score, Scorer
from samekind.index.durable import DurableStore, heading, settled
from samekind.index.exact import exhaustive
from samekind.index.structure import package
from samekind.settings import Between, typed

MOST_GATHERED = 2**22  # numbers of candidates that are compared at a time


class Faiss:
    """Stored vectors (n, dimension), float32, each under an id, and nearly the best of them for a query.

    ``structure`` is "flat", "hnsw", "ivf", "pq", or "auto": chosen by the number of vectors and by
    ``memory``, the limit of a structure in bytes (None: half of the machine's); see `structure_sizes`.
    ``effort`` is how far a search looks: the candidates of hnsw, the lists of ivf and pq; None is the
    structure's default. More is slower and finds more; ivf is exact if it looks into all lists. It may be
    set at any time, and is saved.
    ``seed`` draws the sample that lists and codes are fitted to.

    The scores are those of the exact index, but some of the best vectors may be missing. Which of several
    equal scores are the last of k is not fixed, unless all vectors are compared. Durable as `Exact` is.
    """

    backend = "Faiss"
    exact = remote = False
    url = name = None

    def __init__(
        self,
        dimension: int,
        *,
        structure: Literal["auto"] | sizes.StructureName = "auto",
        score: Score = "cosine",
        fingerprint: str = "",
        effort: int | None = None,
        memory: int | None = None,
        seed: int = 0,
    ) -> None:
        contract.check_made(dimension, score)
        if structure not in ("auto", *sizes.STRUCTURES):
            known = nearest(str(structure), ("auto", *sizes.STRUCTURES))
            raise SettingError(f'there is no FAISS structure "{structure}"; {known}')
        if effort is not None and typed(int, effort, "effort") < 1:
            raise SettingError(f"effort is at least 1, got {effort}")
        typed(int | None, memory, "memory")
        typed(Annotated[int, Between(0, 2**31 - 1)], seed, "seed")
        package()  # refused now, not at the first search
        self.dimension = dimension
        self.structure = structure
        self.score: Score = score
        self.fingerprint = fingerprint
        self.effort = effort
        self.memory = memory
        self.seed = seed
        self.notes: dict[str, Any] = {}
        self._durable = DurableStore(dimension)
        self._arrangement = Arrangement(dimension, score, name=structure, memory=memory, seed=seed)

    def __len__(self) -> int:
        return len(self._durable.store)

    def __contains__(self, id: object) -> bool:
        return id in self._durable.store

    def __iter__(self) -> Iterator[str]:
        return iter(self._durable.store)

    @property
    def built(self) -> sizes.StructureName | None:
        """The name of the structure; None if there is none yet."""
        built = self._arrangement.structure
        return built.name if built is not None else None

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

    def search(self, queries: Tensor, k: int, *, scorer: Scorer | None = None) -> Found:
        """Nearly the min(k, n) best stored vectors of each query (q, dimension).

        With a ``scorer`` all stored vectors are compared, as in `Exact`: a structure knows only its own
        score. The first search after many additions builds the structure, unless ``build`` or ``save`` did.
        """
        queries = contract.checked_queries(queries, k, dimension=self.dimension)
        store = self._durable.store
        if scorer is None:
            self._arrangement.arrange(store)
        k, built = min(k, len(store)), self._arrangement.structure
        # With many candidates, comparing all vectors is as fast, and exact.
        few = built is None or sizes.candidates_for(built.name, k) > len(built) // 10
        if few or scorer is not None or not len(queries):
            return exhaustive(store, contract.as_similarity(scorer, score=self.score), queries, k)
        return self._nearest(queries.cpu(), k)

    def build(self) -> None:
        """Put all vectors into the structure now, and not at the next search."""
        self._arrangement.arrange(self._durable.store, most_beside=0)

    def save(self, folder: str | Path) -> None:
        """As `Exact.save`, with the structure."""
        store = self._durable.store
        self._arrangement.arrange(store)
        if self.built is not None:
            self.build()  # with the rows beside the structure
        content = {
            **heading(self),
            "settings": {
                "kind": self.structure,
                "effort": self.effort,
                "memory": self.memory,
                "seed": self.seed,
            },
            "structure": self._arrangement.describe(),
        }

        moved = self._durable.save(
            Path(folder),
            content,
            files=(arrangement.FILE,),
            fill=lambda place: self._arrangement.write(place, store),
        )
        self._arrangement.follow(moved, store)

    @classmethod
    def open(cls, folder: str | Path, *, fingerprint: str | None = None, verify: bool = False) -> Self:
        """Read an index, and live in its folder from now on.

        Raises SpaceError if it is damaged, or of another space than ``fingerprint``. The structure is read
        and checked; the vectors are mapped into memory, and ``verify`` compares them with their hash.
        """
        return settled(Path(folder), lambda: cls._read(Path(folder), fingerprint, verify))

    @classmethod
    def _read(cls, folder: Path, fingerprint: str | None, verify: bool) -> Self:
        durable, header = DurableStore.read(folder, cls.backend, fingerprint=fingerprint, verify=verify)
        settings = typed(dict[str, Any], header["settings"], "settings")
        index = cls(
            header["dimension"],
            structure=settings["kind"],
            score=header["score"],
            fingerprint=header["fingerprint"],
            effort=settings["effort"],
            memory=settings["memory"],
            seed=settings["seed"],
        )
        index.notes, index._durable = header["notes"], durable
        index._arrangement.read(folder, header, durable.store)
        return index

    def close(self) -> None:
        """Let others write to the folder; this index can still be searched."""
        self._durable.close()

    def _nearest(self, queries: Tensor, k: int) -> Found:
        """The best candidates of each query, by their vectors; with too few, the best of all vectors."""
        store, similarity = self._durable.store, contract.as_similarity(None, score=self.score)
        rows = self._arrangement.candidates(store, queries, k, effort=self.effort)
        rows = rows.sort(dim=1).values  # keeps equal scores in the order added
        scores = torch.empty(rows.shape)
        strip = max(1, MOST_GATHERED // (rows.shape[1] * self.dimension))
        for top in range(0, len(rows), strip):
            here = rows[top : top + strip]
            vectors = store.at(here.clamp(min=0).flatten())
            repeated = queries[top : top + strip].repeat_interleave(rows.shape[1], dim=0)
            with torch.no_grad():
                scores[top : top + strip] = similarity(repeated, vectors).view(here.shape)
        scores = scores.masked_fill(rows < 0, -torch.inf)
        scores, order = scores.sort(dim=1, descending=True, stable=True)
        scores, rows = scores[:, :k], rows.gather(1, order)[:, :k]
        ids = [store.names(row) for row in rows.tolist()]
        short = (rows < 0).any(dim=1).nonzero().flatten()
        if len(short):
            whole = exhaustive(store, similarity, queries[short], k)
            scores[short] = whole.scores
            for place, row in zip(short.tolist(), whole.ids, strict=True):
                ids[place] = row
        return Found(scores, ids)

"""An index in Milvus: the engine for galleries beyond one machine.

A collection holds a row for each vector. What it was made for is in its description, which cannot be changed:
a client of another space or dimension is refused.

Milvus has neither transactions nor unique columns. So the primary key is not the id but the row's *place*, a
text that sorts by the time of adding and is unique to its client: all rows can be walked in the order added,
and deleting a row never hits that of another client. An addition looks for its ids before and after: of two
clients that add one id at the same time at least one sees both rows, deletes its own and tries again.
"""

import random
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor

from samekind.errors import IndexServerError, SamekindError, SettingError
from samekind.index import contract, server
from samekind.index.contract import Found, Metadata, Score, Scorer
from samekind.index.milvus_collection import Collection
from samekind.index.milvus_connection import SCHEMES, Connection
from samekind.settings import typed

MOST_DIMENSIONS = 32_768
LONGEST_METADATA = 65_000  # in bytes, as JSON; the server's limit is 64 KiB
ATTEMPTS = 8
PAGE = 10_000


class Milvus:
    """Vectors in a collection of a Milvus server, each under an id, and the best of them for a query.

    ``url`` is the server, ``name`` the index there: joined if it exists, else made (unless ``create`` is
    False). Any number of clients can use it at once. An addition that returned is in the server's log, and
    survives the death of client and server. One that fails because the server went away may be there in part:
    add the same again with ``replace``.

    Every addition costs two queries that wait for the server's clock (some 0.4 s each by default), so add
    many at a time. A search is approximate once the server has indexed rows; ``effort``, the candidates HNSW
    keeps, buys recall. ``timeout``, in seconds, is how long to wait for an answer, and for a server that is
    starting; ``save`` waits for its rows to be stored up to ten times as long.
    """

    backend = "Milvus"
    exact, remote = False, True
    built = None

    def __init__(
        self,
        dimension: int,
        *,
        url: str,
        name: str,
        score: Score = "cosine",
        fingerprint: str = "",
        effort: int = 128,
        timeout: float = 60.0,
        create: bool = True,
    ) -> None:
        contract.check_made(dimension, score)
        server.check_name(name)
        server.check_dimension(dimension, MOST_DIMENSIONS, what="Milvus")
        if typed(int, effort, "effort") < 1 or typed(float, timeout, "timeout") <= 0:
            raise SettingError(f"expected an effort and a timeout above 0, got {effort} and {timeout}")
        self.dimension, self.fingerprint, self.name = dimension, fingerprint, name
        self.score: Score = score
        self.effort, self.timeout = effort, timeout
        self._connection = Connection(url, collection=f"samekind_{name}", timeout=timeout)
        self.url = self._connection.shown
        where = f'the index "{name}" on the Milvus server at {self.url}'
        self._purpose = server.Purpose(dimension, score, fingerprint)
        self._collection = Collection(self._connection, self._purpose, where=where)
        self._lock = threading.Lock()
        self._last = 0
        self.notes: dict[str, Any] = self._collection.join(create=create)

    def __len__(self) -> int:
        return self._collection.count()

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and server.storable(id) and bool(self._collection.places([id]))

    def __iter__(self) -> Iterator[str]:
        for rows in self._collection.pages(PAGE, []):
            yield from (row["id"] for row in rows)

    def metadata(self, ids: Sequence[str]) -> list[Metadata]:
        """The metadata of these ids, in their order, a thousand a query; empty if none was given."""
        contract.check_list(ids)
        rows = self._collection.rows([id for id in ids if server.storable(id)], ["metadata"])
        held: dict[str, Metadata] = {row["id"]: row["metadata"] for row in rows}
        return server.in_order_of(ids, held, self)

    def vectors(self, ids: Sequence[str] | None = None) -> Tensor:
        if ids is None:
            blocks = [vectors for _, vectors in self._collection.walk(PAGE)]
            return torch.cat([torch.empty(0, self.dimension), *blocks])
        rows = self._collection.rows([id for id in ids if server.storable(id)], ["vector"])
        held = server.in_order_of(ids, {row["id"]: row["vector"] for row in rows}, self)
        return torch.tensor(held).reshape(len(ids), self.dimension)

    def add(
        self,
        ids: Sequence[str],
        vectors: Tensor,
        metadata: Sequence[Metadata] | None = None,
        *,
        replace: bool = False,
    ) -> None:
        """Store vectors (n, dimension) under n new ids, with a JSON object each.

        With ``replace`` an id may be known: its old vector is removed once the new one is stored, which
        counts as added last. When this returns, the rows are in the server's log.
        """
        values, texts = server.checked_rows(ids, vectors, metadata, dimension=self.dimension)
        longest = max((len(text) for text in texts), default=0)
        if longest > LONGEST_METADATA:
            raise SettingError(
                f"Milvus keeps metadata of up to {LONGEST_METADATA:,} bytes an id, got {longest:,}"
            )
        if not ids:
            return
        self._collection.check()
        for attempt in range(ATTEMPTS):
            if not replace:
                contract.check_new_ids(ids, self._collection.places(ids))
            if self._add(ids, values, texts, replace=replace):
                return
            time.sleep(random.uniform(0, 0.05 * 2**attempt))  # the other client does the same
        raise IndexServerError(f'others keep adding the same ids to the index "{self.name}"; try again later')

    def remove(self, ids: Sequence[str]) -> None:
        places = self._collection.places([id for id in ids if server.storable(id)])
        server.in_order_of(ids, places, self)
        self._collection.delete([place for rows in places.values() for place in rows])

    def search(self, queries: Tensor, k: int, *, scorer: Scorer | None = None) -> Found:
        """The min(k, n) best stored vectors of each query (q, dimension).

        The server searches. With a ``scorer`` all vectors are fetched, block by block, and compared on the
        queries' device; also if the server finds fewer than k, because it leaves out vectors of zeros, which
        have no cosine.
        """
        queries = contract.checked_queries(queries, k, dimension=self.dimension)
        self._collection.check()
        if scorer is None and len(queries):
            hits = self._collection.nearest(queries, k, effort=self.effort)
            if hits is not None:
                return server.in_order(hits, k)
        walk = self._collection.walk(server.rows_at_once(len(queries), self.dimension))
        return server.best_while_walking(walk, queries, k, scorer=scorer, score=self.score)

    def save(self, folder: str | Path) -> None:
        """Save the notes on the server, move all rows from its log to its store, and write a folder that says
        where the index is.

        Waits for the rows up to ten times ``timeout``; if that is not enough, nothing is lost, and saving
        again goes on.
        """
        self._collection.keep_notes(server.notes_as_text(self.notes))
        self._collection.flush()
        content = {"url": self.url, "name": self.name, "effort": self.effort, "timeout": self.timeout}
        server.save(folder, self.backend, self._purpose, content)

    @classmethod
    def open(cls, folder: str | Path, *, fingerprint: str | None = None) -> Self:
        """Join the index that a folder names; raises SpaceError for another space than ``fingerprint``.

        A password comes from the environment: the address in ``SAMEKIND_INDEX_URL``.
        """
        purpose, header = server.read(folder, cls.backend, fingerprint=fingerprint)
        return cls(
            purpose.dimension,
            url=server.address(header["url"], SCHEMES),
            name=header["name"],
            score=purpose.score,
            fingerprint=purpose.fingerprint,
            effort=header.get("effort", 128),
            timeout=header.get("timeout", 60.0),
            create=False,
        )

    def drop(self) -> None:
        """Delete the index from the server, with all its vectors, for all clients."""
        self._collection.drop()

    def close(self) -> None:
        """Hang up; the next call connects again."""
        self._connection.close()

    def _add(self, ids: Sequence[str], vectors: Tensor, texts: Sequence[str], *, replace: bool) -> bool:
        """Store rows; returns False if another client stored one of the ids at the same time: none stays."""
        places = self._new_places(len(ids))
        try:
            self._collection.insert(places, ids, vectors, texts)
            stored = self._collection.places(ids)
        except BaseException:
            with suppress(SamekindError):
                self._collection.delete(places)
            raise
        if replace:  # the newest stays, of whichever client
            self._collection.delete([place for rows in stored.values() for place in rows[:-1]])
            return True
        if all(set(places).issuperset(rows) for rows in stored.values()):
            return True
        self._collection.delete(places)
        return False

    def _new_places(self, count: int) -> list[str]:
        """Places behind all earlier ones of this client, and unlike those of any other.

        Sorted as texts they are in the order of the clients' clocks; those of one client are in the order of
        its calls, even if its clock is set back.
        """
        with self._lock:
            self._last = max(time.time_ns(), self._last + 1)
            call = f"{self._last:020d}-{secrets.token_hex(4)}"
        return [f"{call}-{row:09d}" for row in range(count)]

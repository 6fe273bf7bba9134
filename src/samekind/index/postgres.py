"""An index in PostgreSQL with pgvector: the shared store of many clients.

The vectors are a table of the database. What the index was made for is a row of another table: a client of
another space or dimension is refused. Every change is one transaction.

The server's own index is HNSW: Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search
using Hierarchical Navigable Small World graphs", 2018.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self, get_args

import torch
from torch import Tensor

from samekind.errors import SettingError, nearest
from samekind.index import contract, server
from samekind.index.contract import Found, Metadata, Score, Scorer
from samekind.index.postgres_connection import Connection
from samekind.index.postgres_table import Method, Table
from samekind.settings import typed

SCHEMES = ("postgresql", "postgres")
MOST_DIMENSIONS = 16_000  # of a column of pgvector
PAGE = 10_000


class Postgres:
    """Vectors in a table of a PostgreSQL server, each under an id, and the best of them for a query.

    ``url`` is the server and database, ``name`` the index there: joined if it exists, else made (unless
    ``create`` is False). Any number of clients can use it at once. An addition that returned is on the
    server's disk; of two clients that add the same id the database refuses one.

    A search compares all vectors until `build` (or `save`) finds enough of them to make the server's index
    by ``method``. Then it is approximate, and ``effort`` buys recall: the candidates HNSW keeps (100, up to
    1,000), or the lists IVFFlat looks into (20). An index for the cosine leaves out vectors of zeros. Vectors
    of more than 2,000 numbers are always compared one by one.
    """

    backend = "Postgres"
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
        method: Method = "hnsw",
        effort: int | None = None,
        create: bool = True,
    ) -> None:
        contract.check_made(dimension, score)
        server.check_name(name)
        server.check_dimension(dimension, MOST_DIMENSIONS, what="PostgreSQL")
        if method not in get_args(Method):
            raise SettingError(f'there is no method "{method}"; {nearest(str(method), get_args(Method))}')
        if effort is not None and typed(int, effort, "effort") < 1:
            raise SettingError(f"expected an effort of 1 or more, got {effort}")
        self.dimension, self.fingerprint, self.name = dimension, fingerprint, name
        self.score: Score = score
        self.method: Method = method
        self.effort = effort
        self._connection = Connection(url)
        self.url = self._connection.shown
        where = f'the index "{name}" on the PostgreSQL server at {self.url}'
        self._table = Table(name, server.Purpose(dimension, score, fingerprint), where=where)
        self.notes: dict[str, Any] = self._connection.write(lambda it: self._table.join(it, create=create))

    def __len__(self) -> int:
        return self._connection.read(self._table.count)

    def __contains__(self, id: object) -> bool:
        if not isinstance(id, str) or not server.storable(id):
            return False
        return bool(self._connection.read(lambda it: self._table.present(it, [id])))

    def __iter__(self) -> Iterator[str]:
        """The ids, in the order they were added; fetched page by page, with other calls between."""
        after = 0
        while page := self._connection.read(partial(self._table.page, after=after, size=PAGE)):
            after = page[-1][0]
            yield from (id for _, id in page)

    def metadata(self, ids: Sequence[str]) -> list[Metadata]:
        """The metadata of these ids, in their order, by one query; empty if none was given."""
        contract.check_list(ids)
        storable = [id for id in set(ids) if server.storable(id)]
        held = self._connection.read(lambda it: self._table.metadata(it, storable))
        return server.in_order_of(ids, held, self)

    def vectors(self, ids: Sequence[str] | None = None) -> Tensor:
        if ids is None:
            blocks = self._connection.read(lambda it: [vectors for _, vectors in self._table.walk(it, PAGE)])
        else:
            storable = [id for id in set(ids) if server.storable(id)]
            held = self._connection.read(lambda it: self._table.vectors(it, storable))
            blocks = server.in_order_of(ids, held, self)
        return torch.cat([torch.empty(0, self.dimension), *blocks])

    def add(
        self,
        ids: Sequence[str],
        vectors: Tensor,
        metadata: Sequence[Metadata] | None = None,
        *,
        replace: bool = False,
    ) -> None:
        """Store vectors (n, dimension) under n new ids, with a JSON object each.

        With ``replace`` an id may be known: its old vector is removed, and the new one counts as added last.
        All are stored or none; when this returns, they are on the server's disk.
        """
        values, texts = server.checked_rows(ids, vectors, metadata, dimension=self.dimension)

        def work(connection: Any) -> None:
            self._table.check(connection)
            if replace:
                self._table.lock(connection)
                self._table.delete(connection, ids)
            else:
                # For a sentence that names them; the primary key refuses what comes meanwhile.
                contract.check_new_ids(ids, self._table.present(connection, ids))
            self._table.insert(connection, ids, values, texts)

        if ids:
            self._connection.write(work)

    def remove(self, ids: Sequence[str]) -> None:
        storable = [id for id in ids if server.storable(id)]

        def work(connection: Any) -> set[str]:
            self._table.lock(connection)
            known = self._table.present(connection, storable)
            if known >= set(ids):
                self._table.delete(connection, storable)
            return known

        known = self._connection.write(work) if ids else set()
        server.in_order_of(ids, dict.fromkeys(known), self)

    def search(self, queries: Tensor, k: int, *, scorer: Scorer | None = None) -> Found:
        """The min(k, n) best stored vectors of each query (q, dimension).

        The server searches; with a ``scorer`` all vectors are fetched, block by block, and compared on the
        queries' device.
        """
        queries = contract.checked_queries(queries, k, dimension=self.dimension)
        size = server.rows_at_once(len(queries), self.dimension)

        def by_scorer(connection: Any) -> Found:
            self._table.check(connection)
            walk = self._table.walk(connection, size)
            return server.best_while_walking(walk, queries, k, scorer=scorer, score=self.score)

        def by_server(connection: Any) -> Found:
            self._table.check(connection)
            return server.in_order(self._table.nearest(connection, queries, k, effort=self.effort), k)

        # Without queries the server does not tell the number of columns.
        return self._connection.read(by_server if scorer is None and len(queries) else by_scorer)

    def build(self) -> None:
        """Make the server's index, if there are vectors enough; other writers wait meanwhile.

        Adding all vectors first and building then is many times faster than the other way round. So is a
        graph that fits into the server's ``maintenance_work_mem``, which an address can set:
        ``postgresql://host/database?options=-c%20maintenance_work_mem%3D2GB``.
        """
        self._connection.write(lambda it: self._table.build(it, self.method))

    def save(self, folder: str | Path) -> None:
        """Build, save the notes on the server, and write a folder that says where the index is."""
        notes = server.notes_as_text(self.notes)
        self.build()
        self._connection.write(lambda it: self._table.keep_notes(it, notes))
        content = {"url": self.url, "name": self.name, "method": self.method, "effort": self.effort}
        server.save(folder, self.backend, self._table.purpose, content)

    @classmethod
    def open(cls, folder: str | Path, *, fingerprint: str | None = None) -> Self:
        """Join the index that a folder names; raises SpaceError for another space than ``fingerprint``.

        A password comes from the environment: ``PGPASSWORD``, the password file, or a whole address in
        ``SAMEKIND_INDEX_URL``.
        """
        purpose, header = server.read(folder, cls.backend, fingerprint=fingerprint)
        return cls(
            purpose.dimension,
            url=server.address(header["url"], SCHEMES),
            name=header["name"],
            score=purpose.score,
            fingerprint=purpose.fingerprint,
            method=header.get("method", "hnsw"),
            effort=header.get("effort"),
            create=False,
        )

    def drop(self) -> None:
        """Delete the index from the server, with all its vectors, for all clients."""
        self._connection.write(self._table.drop)

    def close(self) -> None:
        """Hang up; the next call connects again."""
        self._connection.close()

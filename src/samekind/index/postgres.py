"""An index in PostgreSQL with pgvector: the shared store of many clients.

The vectors are a table of the database; what the index was made for is a row in another, so that whoever
connects with another space or dimension is refused. Every change is one transaction.

The server's own index is HNSW: Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search
using Hierarchical Navigable Small World graphs", 2018.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self, get_args

import torch
from torch import Tensor

from samekind.errors import SettingError, nearest
from samekind.index import server
from samekind.index.contract import (
    Found,
    Metadata,
    Score,
    Scorer,
    as_texts,
    check_list,
    check_made,
    check_new_ids,
    check_wanted,
    checked,
    refuse_unknown,
)
from samekind.index.postgres_connection import Connection
from samekind.index.postgres_table import Method, Table

SCHEMES = ("postgresql", "postgres")
MOST_DIMENSIONS = 16_000  # of a column of pgvector
PAGE = 10_000


class Postgres:
    """Vectors in a table of a PostgreSQL server, each under an id, and the best of them for a query.

    ``url`` says which server and database, ``name`` which index there: it is made if it is not there (unless
    ``create`` is False) and joined if it is. Any number of clients can use it at once; an addition that
    returned is on the server's disk, and of two clients that add the same id the database refuses one.

    A search compares all vectors until `build` (or `save`) finds enough of them to make the server's index
    by ``method``; then it is approximate, and ``effort`` buys recall: the candidates HNSW keeps (100, up to
    1,000), or the lists IVFFlat looks into (20). A vector of zeros has no direction: an index for the cosine
    leaves it out. Vectors of more than 2,000 numbers are always compared one by one.
    """

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
        check_made(dimension, score)
        server.check_name(name)
        if dimension > MOST_DIMENSIONS:
            raise SettingError(
                f"PostgreSQL keeps vectors of up to {MOST_DIMENSIONS:,} numbers, not {dimension:,}"
            )
        if method not in get_args(Method):
            raise SettingError(f'there is no method "{method}"; {nearest(str(method), get_args(Method))}')
        if effort is not None and effort < 1:
            raise SettingError(f"expected an effort of 1 or more, got {effort}")
        self.dimension = dimension
        self.score: Score = score
        self.fingerprint = fingerprint
        self.name = name
        self.method: Method = method
        self.effort = effort
        self._connection = Connection(url)
        self.url = self._connection.shown
        where = f'the index "{name}" on the PostgreSQL server at {self.url}'
        self._table = Table(name, server.Made(dimension, score, fingerprint), where=where)
        self.notes: dict[str, Any] = self._connection.write(lambda it: self._table.join(it, create=create))

    def __len__(self) -> int:
        return self._connection.read(self._table.count)

    def __contains__(self, id: object) -> bool:
        if not isinstance(id, str) or not server.storable(id):
            return False
        return bool(self._connection.read(lambda it: self._table.present(it, [id])))

    def __iter__(self) -> Iterator[str]:
        """The ids, in the order they were added; page by page, so that other calls may come between."""
        after = 0
        while page := self._page(after):
            after = page[-1][0]
            yield from (id for _, id in page)

    def metadata(self, ids: Sequence[str]) -> list[Metadata]:
        """What was stored with each of these ids, in their order, by one query; empty where nothing was."""
        check_list(ids)
        wanted = [each for each in set(ids) if server.storable(each)]
        held = self._connection.read(lambda it: self._table.metadata(it, wanted))
        for each in ids:
            if each not in held:
                refuse_unknown(each, self)
        return [held[each] for each in ids]

    def vectors(self, ids: Sequence[str] | None = None) -> Tensor:
        """The vectors (n, dimension) of these ids, in their order; of all, in the order added, if None."""
        if ids is None:
            blocks = self._connection.read(lambda it: [each for _, each in self._table.walk(it, PAGE)])
        else:
            wanted = [each for each in set(ids) if server.storable(each)]
            found = self._connection.read(lambda it: self._table.vectors(it, wanted))
            for each in ids:
                if each not in found:
                    refuse_unknown(each, self)
            blocks = [found[each] for each in ids]
        return torch.cat([torch.empty(0, self.dimension), *blocks])

    def add(
        self,
        ids: Sequence[str],
        vectors: Tensor,
        metadata: Sequence[Metadata] | None = None,
        *,
        replace: bool = False,
    ) -> None:
        """Store vectors (n, dimension) under n ids that are not there yet, with a JSON object each.

        With ``replace`` an id that is there is removed first: its new vector counts as added last. All are
        stored or none; once this returns they are on the server's disk.
        """
        check_new_ids(ids, ())
        values = checked(vectors, dimension=self.dimension, count=len(ids))
        texts = as_texts(metadata, count=len(ids))
        server.check_storable(ids, texts)

        def work(connection: Any) -> None:
            self._table.check(connection)
            if replace:
                self._table.lock(connection)
                self._table.delete(connection, ids)
            else:
                # For a sentence that names them; the last word has the primary key.
                check_new_ids(ids, self._table.present(connection, ids))
            self._table.insert(connection, ids, values, texts)

        if ids:
            self._connection.write(work)

    def remove(self, ids: Sequence[str]) -> None:
        """Forget vectors; an id that is not there is an error, and then all stay."""
        wanted = [each for each in ids if server.storable(each)]

        def work(connection: Any) -> set[str]:
            self._table.lock(connection)
            known = self._table.present(connection, wanted)
            if known >= set(ids):
                self._table.delete(connection, wanted)
            return known

        known = self._connection.write(work) if ids else set()
        for each in ids:
            if each not in known:
                refuse_unknown(each, self)

    def search(self, queries: Tensor, k: int, *, scorer: Scorer | None = None) -> Found:
        """The min(k, n) best stored vectors of each query (q, dimension).

        By the server, or with a ``scorer`` in its place: then all vectors come here, block by block, and are
        compared on the queries' device.
        """
        check_wanted(k)
        queries = checked(queries, dimension=self.dimension, count=len(queries))
        size = server.rows_at_once(len(queries), self.dimension)

        def by_scorer(connection: Any) -> Found:
            self._table.check(connection)
            walk = self._table.walk(connection, size)
            return server.best_while_walking(walk, queries, k, scorer=scorer, score=self.score)

        def by_server(connection: Any) -> Found:
            self._table.check(connection)
            return server.in_order(self._table.nearest(connection, queries, k, effort=self.effort), k)

        # Without a query the server has nothing to say about the number of columns.
        return self._connection.read(by_server if scorer is None and len(queries) else by_scorer)

    def build(self) -> None:
        """Make the server's index, once there are vectors enough; other writers wait until it is there.

        Loading first and building then is many times faster than the other way round; so is a graph that fits
        into the server's ``maintenance_work_mem``, which an address can set for its clients:
        ``postgresql://host/database?options=-c%20maintenance_work_mem%3D2GB``.
        """
        self._connection.write(lambda it: self._table.build(it, self.method))

    def save(self, folder: str | Path) -> None:
        """Build, keep the notes on the server, and write a folder that says where the index is."""
        notes = server.notes_as_text(self.notes)
        self.build()
        self._connection.write(lambda it: self._table.keep_notes(it, notes))
        content = {"url": self.url, "name": self.name, "method": self.method, "effort": self.effort}
        server.save(folder, "Postgres", self._table.made, content)

    @classmethod
    def open(cls, folder: str | Path, *, fingerprint: str | None = None) -> Self:
        """Join the index that a folder points to; one of another space than ``fingerprint`` is refused.

        A password comes from the environment: ``PGPASSWORD``, the password file, or a whole address in
        ``SAMEKIND_INDEX_URL``.
        """
        made, header = server.read(folder, "Postgres", fingerprint=fingerprint)
        return cls(
            made.dimension,
            url=server.address(header["url"], SCHEMES),
            name=header["name"],
            score=made.score,
            fingerprint=made.fingerprint,
            method=header.get("method", "hnsw"),
            effort=header.get("effort"),
            create=False,
        )

    def drop(self) -> None:
        """Delete the index from the server, with all vectors in it, for everybody."""
        self._connection.write(self._table.drop)

    def close(self) -> None:
        """Hang up; the next call connects again."""
        self._connection.close()

    def _page(self, after: int) -> list[tuple[int, str]]:
        return self._connection.read(lambda it: self._table.page(it, after, PAGE))

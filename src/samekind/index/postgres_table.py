"""The table of an index in PostgreSQL: every statement that is sent to the server.

Values from outside are parameters; the one name is an identifier that `psycopg.sql` quotes. Each function is
given a connection with an open transaction.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, LiteralString

import torch
from torch import Tensor

from samekind.errors import SpaceError
from samekind.index.postgres_connection import PREPARING
from samekind.index.server import Purpose, check_same

if TYPE_CHECKING:
    import psycopg

    Session = psycopg.Connection[Any]

Method = Literal["hnsw", "ivfflat"]

#: With fewer vectors a search compares all: it is exact, and fast enough.
EXACT_BELOW = 10_000
#: pgvector's own limits: of an index, and of the candidates HNSW keeps.
MOST_INDEXED, MOST_EFFORT = 2_000, 1_000
EFFORT = {"hnsw": 100, "ivfflat": 20}

#: The distance of pgvector, the class of its indexes, and the score (higher is closer) from a distance d.
#: The cosine of a vector of zeros is NaN there and 0 here.
DISTANCES: dict[str, tuple[LiteralString, LiteralString, LiteralString]] = {
    "cosine": ("<=>", "vector_cosine_ops", "CASE WHEN d = 'NaN' THEN 0 ELSE 1 - d END"),
    "dot": ("<#>", "vector_ip_ops", "-d"),
    "euclidean": ("<->", "vector_l2_ops", "-d"),
}


class Table:
    """The table of one index, and its row among all indexes of the database."""

    def __init__(self, name: str, purpose: Purpose, *, where: str) -> None:
        self.name = name
        self.purpose = purpose
        self.where = where  # for messages

    def join(self, connection: "Session", *, create: bool) -> dict[str, Any]:
        """Make the table, or check that it is the expected one; returns the notes."""
        notes = self._notes(connection)
        if notes is None and create:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [PREPARING])
            connection.execute(
                "CREATE TABLE IF NOT EXISTS samekind (name text PRIMARY KEY, dimension integer NOT NULL, "
                "score text NOT NULL, fingerprint text NOT NULL, notes jsonb NOT NULL DEFAULT '{}')"
            )
            notes = self._notes(connection)  # another client may have been quicker
            if notes is None:
                self._make(connection)
                return {}
        if notes is None:
            raise SpaceError(
                f"{self.where} is not there; it was dropped, or the address is that of another server"
            )
        self.check(connection)
        return notes

    def check(self, connection: "Session") -> None:
        """Raise SpaceError if the index is not what this client was made for."""
        statement = "SELECT dimension, score, fingerprint FROM samekind WHERE name = %s"
        row = connection.execute(statement, [self.name]).fetchone()
        if row is None:
            raise SpaceError(f"{self.where} is no longer there: it was dropped; make it again")
        check_same(self.purpose, Purpose(*row), where=self.where)

    def drop(self, connection: "Session") -> None:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [PREPARING])
        connection.execute("DELETE FROM samekind WHERE name = %s", [self.name])
        self._ask(connection, "DROP TABLE IF EXISTS {table}")

    def keep_notes(self, connection: "Session", notes: str) -> None:
        connection.execute("UPDATE samekind SET notes = %s::jsonb WHERE name = %s", [notes, self.name])

    def count(self, connection: "Session") -> int:
        [[count]] = self._ask(connection, "SELECT count(*) FROM {table}")
        return int(count)

    def present(self, connection: "Session", ids: Sequence[str]) -> set[str]:
        """The ids that are known."""
        rows = self._ask(connection, "SELECT id FROM {table} WHERE id = ANY(%s)", [list(ids)])
        return {id for (id,) in rows}

    def page(self, connection: "Session", after: int, size: int) -> list[tuple[int, str]]:
        """The next places and ids after a place, in the order they were added."""
        statement: LiteralString = "SELECT place, id FROM {table} WHERE place > %s ORDER BY place LIMIT %s"
        return [(place, id) for place, id in self._ask(connection, statement, [after, size])]

    def metadata(self, connection: "Session", ids: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """The metadata of the ids that are known."""
        statement: LiteralString = "SELECT id, metadata FROM {table} WHERE id = ANY(%s)"
        return dict(self._ask(connection, statement, [list(ids)]).fetchall())

    def vectors(self, connection: "Session", ids: Sequence[str]) -> dict[str, Tensor]:
        """The vectors (1, dimension) of the ids that are known."""
        statement: LiteralString = "SELECT id, vector FROM {table} WHERE id = ANY(%s)"
        rows = self._ask(connection, statement, [list(ids)], binary=True)
        return {id: self._as_tensor([vector]) for id, vector in rows}

    def walk(self, connection: "Session", size: int) -> Iterator[tuple[list[str], Tensor]]:
        """All ids and vectors in the order they were added, ``size`` at a time."""
        with connection.cursor(name="samekind_walk", binary=True) as cursor:
            cursor.execute(self._sql("SELECT id, vector FROM {table} ORDER BY place"))
            while rows := cursor.fetchmany(size):
                yield [id for id, _ in rows], self._as_tensor([vector for _, vector in rows])

    def insert(
        self, connection: "Session", ids: Sequence[str], vectors: Tensor, texts: Sequence[str]
    ) -> None:
        """Copy rows in; a known id is an error of the database."""
        from psycopg.types.json import Jsonb

        statement = self._sql("COPY {table} (id, vector, metadata) FROM STDIN (FORMAT BINARY)")
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            copy.set_types(["text", "vector", "jsonb"])
            for id, vector, text in zip(ids, vectors.cpu().numpy(), texts, strict=True):
                copy.write_row((id, vector, Jsonb(text, dumps=str)))  # it is JSON already

    def lock(self, connection: "Session") -> None:
        """Keep other writers out until the end of the transaction, not readers."""
        self._ask(connection, "LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE")

    def delete(self, connection: "Session", ids: Sequence[str]) -> None:
        self._ask(connection, "DELETE FROM {table} WHERE id = ANY(%s)", [list(ids)])

    def built(self, connection: "Session") -> str | None:
        """The method of the server's index; None if there is none."""
        row = connection.execute(
            "SELECT method.amname FROM pg_class AS made JOIN pg_am AS method ON method.oid = made.relam "
            "JOIN pg_index AS held ON held.indexrelid = made.oid "
            "WHERE held.indrelid = to_regclass(%s) AND held.indisvalid AND made.relname = %s",
            [f"samekind_{self.name}", f"samekind_{self.name}_search"],
        ).fetchone()
        return row[0] if row is not None else None

    def build(self, connection: "Session", method: Method) -> None:
        """Make the server's index, if there is none and there are vectors enough."""
        if self.purpose.dimension > MOST_INDEXED or (count := self.count(connection)) < EXACT_BELOW:
            return
        self.lock(connection)
        if self.built(connection) is not None:
            return
        # pgvector's own advice for the number of lists.
        lists = count // 1000 if count <= 1_000_000 else math.isqrt(count)
        how: dict[str, LiteralString] = {
            "hnsw": "CREATE INDEX {search} ON {table} USING hnsw (vector {operators})",
            "ivfflat": "CREATE INDEX {search} ON {table} USING ivfflat (vector {operators}) "
            "WITH (lists = {lists})",
        }
        connection.execute(self._sql(how[method], lists=lists))

    def nearest(
        self, connection: "Session", queries: Tensor, k: int, *, effort: int | None
    ) -> list[list[tuple[float, int, str]]]:
        """The (score, place, id) of the k best of each query, by the server's index if there is one."""
        method = self.built(connection)
        if method is not None and k <= MOST_EFFORT:
            hits = self._by_index(connection, queries, k, method=method, effort=effort or EFFORT[method])
            # An index may find fewer, because it still holds deleted vectors.
            if all(len(row) == k for row in hits):
                return hits
        statement: LiteralString = (
            "SELECT {score} AS score, place, id "
            "FROM (SELECT id, place, vector {distance} %s AS d FROM {table}) AS compared "
            "ORDER BY score DESC, place LIMIT {k}"
        )
        return self._for_each(connection, statement, queries, k)

    def _by_index(
        self, connection: "Session", queries: Tensor, k: int, *, method: str, effort: int
    ) -> list[list[tuple[float, int, str]]]:
        settings = {
            "hnsw": {
                "hnsw.ef_search": str(min(max(effort, k), MOST_EFFORT)),
                "hnsw.iterative_scan": "strict_order",
            },
            "ivfflat": {"ivfflat.probes": str(effort), "ivfflat.iterative_scan": "relaxed_order"},
        }
        for name, value in settings[method].items():
            connection.execute("SELECT set_config(%s, %s, true)", [name, value])
        statement: LiteralString = (
            "SELECT {score}, place, id FROM (SELECT id, place, vector {distance} %s AS d FROM {table} "
            "ORDER BY d LIMIT {k}) AS found"
        )
        return self._for_each(connection, statement, queries, k)

    def _for_each(
        self, connection: "Session", statement: LiteralString, queries: Tensor, k: int
    ) -> list[list[tuple[float, int, str]]]:
        """The rows of a statement for each query, sent together."""
        if not len(queries):
            return []
        with connection.cursor() as cursor:
            rows = [[query] for query in queries.cpu().numpy()]
            cursor.executemany(self._sql(statement, k=k), rows, returning=True)
            return [list(result.fetchall()) for result in cursor.results()]

    def _notes(self, connection: "Session") -> dict[str, Any] | None:
        """The notes of the index; None if there is no such index."""
        [[exists]] = connection.execute("SELECT to_regclass('samekind') IS NOT NULL")
        statement = "SELECT notes FROM samekind WHERE name = %s"
        row = connection.execute(statement, [self.name]).fetchone() if exists else None
        return row[0] if row is not None else None

    def _make(self, connection: "Session") -> None:
        from psycopg.errors import DuplicateTable

        try:
            self._ask(
                connection,
                'CREATE TABLE {table} (id text COLLATE "C" PRIMARY KEY, '
                "place bigint GENERATED ALWAYS AS IDENTITY UNIQUE, "
                "vector vector({dimension}) NOT NULL, metadata jsonb NOT NULL)",
            )
        except DuplicateTable:
            raise SpaceError(
                f"the table samekind_{self.name} was not made by samekind; choose another name"
            ) from None
        connection.execute(
            "INSERT INTO samekind (name, dimension, score, fingerprint) VALUES (%s, %s, %s, %s)",
            [self.name, *self.purpose],
        )

    def _ask(
        self,
        connection: "Session",
        statement: LiteralString,
        parameters: Sequence[Any] | None = None,
        *,
        binary: bool = False,
    ) -> "psycopg.Cursor[Any]":
        return connection.execute(self._sql(statement), parameters, binary=binary)

    def _sql(self, statement: LiteralString, *, k: int = 0, lists: int = 0) -> Any:
        """A statement with the names of this table in it."""
        from psycopg import sql

        distance, operators, score = DISTANCES[self.purpose.score]
        return sql.SQL(statement).format(
            table=sql.Identifier(f"samekind_{self.name}"),
            search=sql.Identifier(f"samekind_{self.name}_search"),
            distance=sql.SQL(distance),
            operators=sql.SQL(operators),
            score=sql.SQL(score),
            dimension=sql.Literal(self.purpose.dimension),
            k=sql.Literal(k),
            lists=sql.Literal(lists),
        )

    def _as_tensor(self, vectors: Sequence[Any]) -> Tensor:
        """Vectors of pgvector as (n, dimension)."""
        import numpy as np

        if not vectors:
            return torch.empty(0, self.purpose.dimension)
        return torch.from_numpy(np.stack([vector.to_numpy() for vector in vectors]))

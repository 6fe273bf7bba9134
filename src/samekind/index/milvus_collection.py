"""The collection of an index in Milvus: every request to the server.

Written for Milvus 2.3 and later with the ``MilvusClient`` of pymilvus 3.0. Facts about 2.3.5: a strongly
consistent query waits for the next tick of the server's clock (0.2 s by default); a search by cosine leaves
out vectors of zeros; inserting a row twice counts it twice, so rows are *upserted*, which may be repeated; a
limit above 16,384 is refused. Expressions with parameters came later, so texts are quoted here.
"""

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor

from samekind.errors import IndexServerError, SpaceError
from samekind.index.milvus_connection import Connection, quoted
from samekind.index.server import LONGEST_ID, Purpose, check_same

MOST_FOUND = 16_384
#: The most ids and queries of one request.
IDS_AT_ONCE, QUERIES_AT_ONCE = 1_000, 1_000
#: In bytes, of one message; servers take up to 64 MiB.
MESSAGE = 8 * 2**20
#: The most hits of one answer, which has the same limit: each comes with an id of up to `LONGEST_ID` bytes.
FOUND_AT_ONCE = MOST_FOUND
METRICS = {"cosine": "COSINE", "dot": "IP", "euclidean": "L2"}
#: Moving all rows to the store may take so many timeouts.
FLUSH_TIMES = 10
NOTES = "samekind.notes"
STRONG = "Strong"  # the next search of any client finds what was added

Row = Mapping[str, Any]


class Collection:
    """The collection of one index."""

    def __init__(self, connection: Connection, purpose: Purpose, *, where: str) -> None:
        self.name = connection.collection
        self.purpose = purpose
        self.where = where  # for messages
        self._ask = connection.ask
        self._timeout = connection.timeout

    def join(self, *, create: bool) -> dict[str, Any]:
        """Make the collection, or check that it is the expected one; returns the notes."""
        if not self._call("has_collection"):
            if not create:
                raise SpaceError(
                    f"{self.where} is not there; it was dropped, or the address is that of another server"
                )
            self._make()
        notes = self.check()
        # The client that made the collection may have died before this; doing it twice is harmless.
        if "vector" not in self._call("list_indexes"):
            # There are no rows yet, whose indexing it could wait for.
            self._call("create_index", {"index_params": self._indexes(), "sync": False})
        self._call("load_collection")
        return notes

    def check(self) -> dict[str, Any]:
        """Raise SpaceError if the collection is not what this client was made for; returns the notes."""
        description = self._call("describe_collection")
        try:
            held = Purpose(**json.loads(description["description"]))
        except (TypeError, ValueError):
            raise SpaceError(f"{self.where} was not made by samekind; choose another name") from None
        check_same(self.purpose, held, where=self.where)
        notes: dict[str, Any] = json.loads(description.get("properties", {}).get(NOTES, "{}"))
        return notes

    def drop(self) -> None:
        self._call("drop_collection")

    def keep_notes(self, notes: str) -> None:
        self._call("alter_collection_properties", {"properties": {NOTES: notes}})

    def flush(self) -> None:
        """Move the rows from the server's log to its store, and wait until they are there."""
        self.check()  # a server that is gone is reported after the usual time
        self._ask(self._ask_to_flush)

    def count(self) -> int:
        [row] = self._query("", ["count(*)"])
        return int(row["count(*)"])

    def rows(self, ids: Sequence[str], fields: Sequence[str]) -> list[Row]:
        """Fields, id and place of the rows under ids, in the order they were added."""
        unique = list(dict.fromkeys(ids))
        rows: list[Row] = []
        for start in range(0, len(unique), IDS_AT_ONCE):
            some = quoted(unique[start : start + IDS_AT_ONCE])
            rows += self._query(f"id in {some}", ["id", "place", *fields])
        return sorted(rows, key=lambda row: str(row["place"]))

    def places(self, ids: Sequence[str]) -> dict[str, list[str]]:
        """The places of the rows under each known id: one, unless two clients added it at once."""
        places: dict[str, list[str]] = {}
        for row in self.rows(ids, []):
            places.setdefault(row["id"], []).append(row["place"])
        return places

    def pages(self, size: int, fields: Sequence[str]) -> Iterator[list[Row]]:
        """Fields, id and place of all rows, in the order they were added, ``size`` at a time."""
        after = ""
        while rows := self._query(f"place > {quoted([after])[1:-1]}", ["id", "place", *fields], limit=size):
            rows.sort(key=lambda row: str(row["place"]))
            yield rows
            after = rows[-1]["place"]

    def walk(self, size: int) -> Iterator[tuple[list[str], Tensor]]:
        """All ids and vectors in the order they were added, ``size`` at a time."""
        for rows in self.pages(size, ["vector"]):
            yield [row["id"] for row in rows], torch.tensor([row["vector"] for row in rows])

    def insert(
        self, places: Sequence[str], ids: Sequence[str], vectors: Tensor, texts: Sequence[str]
    ) -> None:
        """Store rows, in messages of bounded size; repeating it changes nothing."""
        message: list[Row] = []
        size = 0
        for place, id, vector, text in zip(places, ids, vectors.cpu().numpy(), texts, strict=True):
            message.append({"place": place, "id": id, "vector": vector, "metadata": text})
            size += vector.nbytes + 4 * len(id) + len(text) + len(place)
            if size > MESSAGE:
                self._call("upsert", {"data": message})
                message, size = [], 0
        if message:
            self._call("upsert", {"data": message})

    def delete(self, places: Sequence[str]) -> None:
        for start in range(0, len(places), IDS_AT_ONCE):
            self._call("delete", {"ids": list(places[start : start + IDS_AT_ONCE])})

    def nearest(self, queries: Tensor, k: int, *, effort: int) -> list[list[tuple[float, str, str]]] | None:
        """The (score, place, id) of the k best of each query, and more if there are equals at the end. None
        if the server did not find k for each query.
        """
        limit = min(k + 1, MOST_FOUND)
        while k <= MOST_FOUND:
            hits = self._search(queries, limit, effort=effort)
            if any(len(row) < k for row in hits):
                return None
            undecided = [row for row in hits if len(row) == limit and row[k - 1][0] == row[-1][0]]
            if not undecided or limit == MOST_FOUND:
                return hits
            limit = min(2 * limit, MOST_FOUND)
        return None

    def _search(self, queries: Tensor, limit: int, *, effort: int) -> list[list[tuple[float, str, str]]]:
        """The (score, place, id) of the best of each query, best first."""
        answers: list[Any] = []
        at_once = max(1, min(QUERIES_AT_ONCE, FOUND_AT_ONCE // limit))
        for start in range(0, len(queries), at_once):
            settings = {
                "data": queries[start : start + at_once].tolist(),
                "anns_field": "vector",
                "limit": limit,
                "output_fields": ["id", "place"],
                "search_params": {"params": {"ef": max(effort, limit)}},
                "consistency_level": STRONG,
            }
            answers += self._call("search", settings)

        def scored(hit: Row) -> tuple[float, str, str]:
            score = hit["distance"]
            if self.purpose.score == "euclidean":  # what Milvus calls L2 is the square of the distance
                score = -math.sqrt(max(0.0, score))
            return score, hit["entity"]["place"], hit["entity"]["id"]

        return [[scored(hit) for hit in hits] for hits in answers]

    def _query(self, filter: str, fields: Sequence[str], *, limit: int | None = None) -> list[Row]:
        # As the client's own iterator: the first rows by primary key, across all segments. But that lets the
        # server send a whole page of every segment, which may be more than there is room for.
        paged = {} if limit is None else {"limit": limit, "iterator": "True", "reduce_stop_for_best": "False"}
        settings = {"filter": filter, "output_fields": list(fields), "consistency_level": STRONG, **paged}
        return list(self._call("query", settings))

    def _call(self, method: str, settings: Mapping[str, Any] | None = None) -> Any:
        """The answer of a method of the client about this collection."""
        return self._ask(lambda it: getattr(it, method)(self.name, timeout=self._timeout, **(settings or {})))

    def _ask_to_flush(self, client: Any) -> None:
        from pymilvus.exceptions import MilvusException

        start, seconds = time.monotonic(), FLUSH_TIMES * self._timeout
        try:
            client.flush(self.name, timeout=seconds)
        except MilvusException as error:
            if time.monotonic() - start < seconds:
                raise
            raise IndexServerError(
                f"{self.where} has not been moved to the server's store within {seconds:g} seconds; what was "
                "added is in the server's log and not lost: save again later, or with a longer timeout"
            ) from error

    def _make(self) -> None:
        from pymilvus import DataType, MilvusClient

        schema = MilvusClient.create_schema(
            auto_id=False, enable_dynamic_field=False, description=json.dumps(self.purpose._asdict())
        )
        schema.add_field("place", DataType.VARCHAR, is_primary=True, max_length=64)
        schema.add_field("id", DataType.VARCHAR, max_length=LONGEST_ID)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=self.purpose.dimension)
        schema.add_field("metadata", DataType.JSON)
        # Another client may have made it meanwhile; `check` compares it.
        with suppress(IndexServerError):
            self._call("create_collection", {"schema": schema, "consistency_level": STRONG})

    def _indexes(self) -> Any:
        from pymilvus import MilvusClient

        indexes = MilvusClient.prepare_index_params()
        indexes.add_index(
            "vector",
            index_name="vector",
            index_type="HNSW",
            metric_type=METRICS[self.purpose.score],
            params={"M": 16, "efConstruction": 200},
        )
        indexes.add_index("id", index_name="id", index_type="Trie")
        return indexes

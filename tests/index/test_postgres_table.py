"""The statements sent to PostgreSQL: the server's own indexes, and names that are taken."""

import pytest
import torch

from samekind.errors import IndexServerError, SpaceError
from samekind.index import Exact, Postgres, postgres_table

pytestmark = pytest.mark.servers


@pytest.fixture
def drawn():
    """Vectors in clusters, as embeddings are, and queries."""
    draw = torch.Generator().manual_seed(0)
    centres = torch.randn(30, 16, generator=draw)
    vectors = centres[torch.arange(1200) % 30] + 0.5 * torch.randn(1200, 16, generator=draw)
    return vectors, centres + 0.5 * torch.randn(30, 16, generator=draw)


def methods(index):
    """The kinds of index on the table of the vectors, as the server tells."""
    asked = (
        "SELECT am.amname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am AS am ON "
        "am.oid = relam WHERE indrelid = %s::regclass ORDER BY 1"
    )
    rows = index._connection.read(lambda it: it.execute(asked, [f"samekind_{index.name}"]).fetchall())
    return [method for (method,) in rows]


def by_index(url):
    """An address with which the server uses an index wherever there is one, however small the table."""
    return f"{url}&options=-c%20enable_seqscan%3Doff"


def plan(index, query):
    """How the server carries out a search."""
    statement = index._table._sql("EXPLAIN SELECT id FROM {table} ORDER BY vector {distance} %s LIMIT 5")
    return str(index._connection.read(lambda it: it.execute(statement, [query.numpy()]).fetchall()))


@pytest.mark.parametrize("method", ["hnsw", "ivfflat"])
@pytest.mark.parametrize("score", ["cosine", "dot", "euclidean"])
def test_the_index_of_the_server_finds_nearly_all(postgres_server, monkeypatch, drawn, method, score):
    vectors, queries = drawn
    name = f"by_{method}_{score}"
    stored, exact = (
        Postgres(16, url=by_index(postgres_server.url), name=name, score=score, method=method),
        Exact(16, score=score),
    )
    for index in (stored, exact):
        index.add([f"item {place}" for place in range(1200)], vectors)
    stored.build()
    assert methods(stored) == ["btree", "btree"]  # too few for an index: all are compared
    assert stored.search(queries, 10).ids == exact.search(queries, 10).ids
    monkeypatch.setattr(postgres_table, "EXACT_BELOW", 1000)
    stored.build()
    stored.build()
    assert methods(stored) == ["btree", "btree", method]
    assert f"samekind_{name}_search" in plan(stored, queries[0])
    answer, expected = stored.search(queries, 10), exact.search(queries, 10)
    hits = sum(len(set(a) & set(b)) for a, b in zip(answer.ids, expected.ids, strict=True))
    assert hits >= 0.95 * 300
    assert (answer.scores[:, :-1] >= answer.scores[:, 1:]).all()
    # What is found has the score it would have anywhere.
    all_scores = exact.search(queries, 1200)
    for row in range(3):
        truth = dict(zip(all_scores.ids[row], all_scores.scores[row].tolist(), strict=True))
        assert answer.scores[row].tolist() == pytest.approx([truth[id] for id in answer.ids[row]], abs=1e-5)
    stored.drop()


def test_more_effort_finds_more(postgres_server, monkeypatch):
    """Vectors without any structure, which are hard."""
    monkeypatch.setattr(postgres_table, "EXACT_BELOW", 1000)
    draw = torch.Generator().manual_seed(1)
    vectors, queries = torch.randn(3000, 32, generator=draw), torch.randn(30, 32, generator=draw)
    exact = Exact(32)
    exact.add([f"item {place}" for place in range(3000)], vectors)
    index = Postgres(32, url=by_index(postgres_server.url), name="effort", method="ivfflat")
    index.add([f"item {place}" for place in range(3000)], vectors)
    index.build()

    def hits(effort):
        index.effort = effort
        answer, expected = index.search(queries, 10), exact.search(queries, 10)
        return sum(len(set(a) & set(b)) for a, b in zip(answer.ids, expected.ids, strict=True))

    assert hits(1) < hits(3) == 300  # three lists there are
    index.drop()


def test_k_beyond_the_limit_of_the_index_compares_all(postgres_server, monkeypatch, drawn):
    monkeypatch.setattr(postgres_table, "EXACT_BELOW", 1000)
    vectors, queries = drawn
    index = Postgres(16, url=by_index(postgres_server.url), name="beyond")
    index.add([f"item {place}" for place in range(1199)], vectors[:1199])
    index.add(["zero"], torch.zeros(1, 16))  # no direction: not in the index
    index.build()
    assert methods(index)[-1] == "hnsw"
    for k in (1000, 1001, 5000):
        answer = index.search(queries[:2], k)
        assert answer.scores.shape == (2, min(k, 1200))
        assert all(len(set(row)) == min(k, 1200) for row in answer.ids)
    assert "zero" in answer.ids[0]
    index.remove([f"item {place}" for place in range(1195)])
    assert sorted(index.search(queries[:1], 5).ids[0]) == [
        "item 1195",
        "item 1196",
        "item 1197",
        "item 1198",
        "zero",
    ]
    index.drop()


def test_vectors_too_long_for_an_index_are_compared_one_by_one(postgres_server, monkeypatch):
    monkeypatch.setattr(postgres_table, "EXACT_BELOW", 1)
    index = Postgres(2001, url=postgres_server.url, name="long")
    index.add(["a", "b"], torch.eye(2, 2001))
    index.build()
    assert methods(index) == ["btree", "btree"]
    assert index.search(torch.eye(1, 2001), 1).ids == [["a"]]
    index.drop()


def test_refuses_a_foreign_table(postgres_server):
    import psycopg

    with psycopg.connect(postgres_server.url, autocommit=True) as other:
        other.execute("CREATE TABLE samekind_foreign (x int)")
        with pytest.raises(SpaceError, match="samekind_foreign was not made by samekind"):
            Postgres(2, url=postgres_server.url, name="foreign")
        assert other.execute("SELECT count(*) FROM samekind_foreign").fetchone() == (0,)
        assert other.execute("SELECT count(*) FROM samekind WHERE name = 'foreign'").fetchone() == (0,)
        other.execute("DROP TABLE samekind_foreign")


def test_a_read_only_user_can_search(postgres_server, make_postgres):
    """A role that may not create anything can join an existing index."""
    import psycopg

    index = make_postgres(2, score="dot")
    index.add(["a"], torch.ones(1, 2))
    with psycopg.connect(postgres_server.url, autocommit=True) as other:
        other.execute("CREATE ROLE reader LOGIN")
        other.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
    reader = Postgres(
        2,
        url=postgres_server.url.replace("postgres:@", "reader:@"),
        name=index.name,
        score="dot",
        create=False,
    )
    assert reader.search(torch.ones(1, 2), 3).ids == [["a"]]
    with pytest.raises(IndexServerError, match=r"refused .*permission denied"):
        reader.add(["b"], torch.ones(1, 2))
    assert list(index) == ["a"]

"""The requests to Milvus: walks across segments, messages of bounded size, ties at the end of a search."""

import pytest
import torch

from samekind.errors import SpaceError
from samekind.index import Exact, Milvus, milvus_collection

pytestmark = pytest.mark.servers


def sizes_of(index, method, monkeypatch):
    """The number of rows or queries of each call of a client's method from now on."""
    sizes, call = [], index._collection._call

    def counted(name, settings=None):
        if name == method:
            sizes.append(len(settings["data"]))
        return call(name, settings)

    monkeypatch.setattr(index._collection, "_call", counted)
    return sizes


def test_a_walk_goes_in_order_across_segments(make_milvus):
    """Rows of two segments, one of them sealed, with places that lie between each other."""
    index = make_milvus(2, score="dot")
    order = torch.randperm(300, generator=torch.Generator().manual_seed(0)).tolist()
    for some in (order[:150], order[150:]):
        places = [f"place {place:05d}" for place in some]
        vectors = torch.tensor(some).float()[:, None].expand(-1, 2)
        index._collection.insert(places, [f"item {place}" for place in some], vectors, ["{}"] * 150)
        if some[0] == order[0]:
            index._connection.ask(lambda it: it.flush(index._collection.name))
    assert list(index) == [f"item {place}" for place in range(300)]
    blocks = list(index._collection.walk(70))
    assert [len(ids) for ids, _ in blocks] == [70, 70, 70, 70, 20]
    assert torch.cat([vectors for _, vectors in blocks])[:, 0].tolist() == list(range(300))


def test_a_large_addition_is_sent_in_messages_of_bounded_size(make_milvus, monkeypatch):
    index = make_milvus(2, score="dot")
    monkeypatch.setattr(milvus_collection, "MESSAGE", 500)
    monkeypatch.setattr(milvus_collection, "IDS_AT_ONCE", 7)
    sent = sizes_of(index, "upsert", monkeypatch)
    ids = [f"item {place}" for place in range(40)]
    index.add(ids, torch.ones(40, 2), [{"text": "x" * place} for place in range(40)])
    assert sum(sent) == 40
    assert len(sent) > 5
    assert list(index) == ids
    assert torch.equal(index.vectors(ids[::-1]), torch.ones(40, 2))
    index.remove(ids[5:])
    assert list(index) == ids[:5]


def test_a_repeated_insertion_changes_nothing(make_milvus):
    """The client repeats a message whose answer was lost."""
    index = make_milvus(2, score="dot")
    for _ in range(3):
        index._collection.insert(["place"], ["a"], torch.ones(1, 2), ["{}"])
    assert len(index) == 1


def test_of_equals_at_the_end_the_first_are_found(make_milvus):
    stored, exact = make_milvus(2, score="dot"), Exact(2, score="dot")
    vectors = torch.tensor([[1.0, 1.0]] * 25 + [[2.0, 2.0]] + [[1.0, 1.0]] * 25)
    for index in (stored, exact):
        index.add([f"item {place}" for place in range(51)], vectors)
    queries = torch.tensor([[1.0, 1.0], [-1.0, 0.0]])
    for k in (1, 3, 30, 50, 51):
        answer, expected = stored.search(queries, k), exact.search(queries, k)
        assert answer.ids == expected.ids
        assert torch.equal(answer.scores, expected.scores)


def test_more_than_the_limit_of_the_server_is_walked(make_milvus, monkeypatch):
    monkeypatch.setattr(milvus_collection, "MOST_FOUND", 4)
    index = make_milvus(2, score="dot")
    index.add([f"item {place}" for place in range(6)], torch.arange(12.0).reshape(6, 2))
    assert index._collection.nearest(torch.ones(1, 2), 5, effort=9) is None
    assert index.search(torch.ones(1, 2), 5).ids == [[f"item {place}" for place in (5, 4, 3, 2, 1)]]


@pytest.mark.parametrize(("limit", "parts"), [("QUERIES_AT_ONCE", [2, 1]), ("FOUND_AT_ONCE", [1, 1, 1])])
def test_many_queries_are_sent_in_parts(make_milvus, monkeypatch, limit, parts):
    """And so are few that want much: a million found at once are more than one message holds."""
    monkeypatch.setattr(milvus_collection, limit, 2)
    index = make_milvus(2, score="dot")
    index.add(["a", "b"], torch.eye(2))
    sizes = sizes_of(index, "search", monkeypatch)
    queries = torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]])
    assert index.search(queries, 1).ids == [["a"], ["b"], ["a"]]
    assert sizes == parts


def test_refuses_a_foreign_collection(make_milvus, milvus_server):
    index = make_milvus(2, score="dot")
    index._connection.ask(lambda it: it.create_collection("samekind_foreign", dimension=2, timeout=60))
    with pytest.raises(SpaceError, match="was not made by samekind; choose another name"):
        Milvus(2, url=milvus_server.url, name="foreign")
    assert index._connection.ask(lambda it: it.has_collection("samekind_foreign"))
    index._connection.ask(lambda it: it.drop_collection("samekind_foreign"))

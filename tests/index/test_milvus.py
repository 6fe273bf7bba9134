"""The index in Milvus, beyond what every index promises: one row for an id, without the server's help."""

import json
import threading

import pytest
import torch

from samekind.errors import IndexServerError, SettingError
from samekind.index import Milvus, milvus, milvus_collection, milvus_connection
from samekind.index.milvus_collection import Collection
from samekind.index.milvus_connection import Connection
from samekind.index.server import Purpose

VECTORS = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"dimension": 32_769}, "vectors of up to 32,768 numbers, not 32,769"),
        ({"effort": 0}, "an effort and a timeout above 0"),
        ({"timeout": 0}, "an effort and a timeout above 0"),
        ({"name": "Faces"}, '"Faces" cannot be the name'),
        ({"url": "localhost:19530"}, "expected http://host:19530"),
    ],
)
def test_refuses_impossible_settings_without_a_server(arguments, says):
    with pytest.raises(SettingError, match=says):
        Milvus(**{"dimension": 2, "url": "http://nowhere.invalid", "name": "faces", **arguments})


def test_places_sort_by_call_and_row_even_if_the_clock_is_set_back(monkeypatch):
    """Without a server: only the clock is asked."""
    clock = iter([1000, 1000, 10, 2**62])
    monkeypatch.setattr(milvus.time, "time_ns", lambda: next(clock))
    client = object.__new__(Milvus)
    client._lock, client._last = threading.Lock(), 0
    places = [place for _ in range(4) for place in client._new_places(12)]
    assert places == sorted(places)
    assert len(set(places)) == 48
    assert max(len(place) for place in places) <= 64


def test_no_two_clients_draw_the_same_place(monkeypatch):
    monkeypatch.setattr(milvus.time, "time_ns", lambda: 1000)
    drawn = []
    for _ in range(100):
        client = object.__new__(Milvus)
        client._lock, client._last = threading.Lock(), 0
        drawn += client._new_places(2)
    assert len(set(drawn)) == 200


@pytest.mark.servers
def test_metadata_beyond_what_the_server_takes_is_refused(make_milvus):
    index = make_milvus(2, score="dot")
    index.add(["a"], VECTORS[:1], [{"x": "y" * 64_000}])
    with pytest.raises(SettingError, match="up to 65,000 bytes an id, got 65,0"):
        index.add(["b"], VECTORS[:1], [{"x": "y" * 65_000}])
    assert list(index) == ["a"]
    assert index.metadata(["a"]) == [{"x": "y" * 64_000}]


@pytest.mark.servers
@pytest.mark.parametrize("theirs", ["before ours", "after ours"])
def test_a_conflicting_addition_is_taken_back(make_milvus, monkeypatch, theirs):
    """Another client stores the id after our check, and before or after our insertion; its row stays."""
    index = make_milvus(2, score="dot")
    insert = index._collection.insert

    def meanwhile(places, ids, vectors, texts):
        monkeypatch.setattr(index._collection, "insert", insert)
        if theirs == "after ours":
            insert(places, ids, vectors, texts)
        insert(["0 theirs"], ["b"], VECTORS[2:], ['{"by": "them"}'])
        if theirs == "before ours":
            insert(places, ids, vectors, texts)

    monkeypatch.setattr(index._collection, "insert", meanwhile)
    with pytest.raises(SettingError, match='"b" is already there'):
        index.add(["a", "b"], VECTORS[:2])
    assert list(index) == ["b"]
    assert index.metadata(["b"]) == [{"by": "them"}]


@pytest.mark.servers
def test_an_addition_stays_if_the_other_client_left(make_milvus, monkeypatch):
    """The other client takes its row back as well: the second try succeeds."""
    index = make_milvus(2, score="dot")
    insert = index._collection.insert
    tried = []

    def meanwhile(places, ids, vectors, texts):
        tried.append(places)
        if len(tried) == 1:
            insert(["theirs"], ["a"], VECTORS[2:], ["{}"])
        insert(places, ids, vectors, texts)

    monkeypatch.setattr(index._collection, "insert", meanwhile)
    monkeypatch.setattr(milvus.time, "sleep", lambda seconds: index._collection.delete(["theirs"]))
    index.add(["a"], VECTORS[:1])
    assert len(tried) == 2
    assert index.vectors().tolist() == [[1, 0]]


@pytest.mark.servers
def test_gives_up_after_many_conflicts(make_milvus, monkeypatch):
    index = make_milvus(2, score="dot")
    monkeypatch.setattr(index, "_add", lambda ids, vectors, texts, *, replace: False)
    monkeypatch.setattr(milvus.time, "sleep", lambda seconds: None)
    with pytest.raises(IndexServerError, match="others keep adding the same ids"):
        index.add(["a"], VECTORS[:1])


@pytest.mark.servers
def test_of_two_replacements_at_once_the_newest_stays(make_milvus):
    """Two rows are under one id, as after two clients met, or one was killed: the next one puts it right."""
    index = make_milvus(2, score="dot")
    index._collection.insert(["00 1", "00 2"], ["a", "a"], VECTORS[:2], ["{}", '{"newer": true}'])
    assert index.metadata(["a"]) == [{"newer": True}]
    assert index.vectors(["a"]).tolist() == [[0, 1]]
    index.add(["a"], VECTORS[2:], replace=True)
    assert list(index) == ["a"]
    assert index.vectors().tolist() == [[1, 1]]
    index._collection.insert(["9 newest"], ["a"], VECTORS[:1], ["{}"])
    index.add(["a"], VECTORS[2:], replace=True)
    assert index.vectors().tolist() == [[1, 0]]


@pytest.mark.servers
def test_an_addition_that_fails_halfway_is_taken_back(make_milvus, monkeypatch):
    index = make_milvus(2, score="dot")
    insert = index._collection.insert

    def half(places, ids, vectors, texts):
        insert(places[:1], ids[:1], vectors[:1], texts[:1])
        raise IndexServerError("and no further")

    monkeypatch.setattr(index._collection, "insert", half)
    with pytest.raises(IndexServerError, match="and no further"):
        index.add(["a", "b"], VECTORS[:2])
    assert list(index) == []


@pytest.mark.servers
def test_all_rows_are_in_the_store_when_save_returns(make_milvus, tmp_path):
    index = make_milvus(2, score="dot")
    index.add([f"item {place}" for place in range(3000)], torch.randn(3000, 2))
    index.save(tmp_path / "index")
    segments = index._connection.ask(lambda it: it.list_persistent_segments(index._collection.name))
    assert sum(segment.num_rows for segment in segments if segment.state.name == "Flushed") >= 3000


class Flushing:
    """A client whose rows take so many seconds to arrive in the store."""

    def __init__(self, seconds, clock, failure):
        self.seconds, self.clock, self.failure, self.asked = seconds, clock, failure, []

    def describe_collection(self, name, *, timeout):
        return {"description": json.dumps({"dimension": 2, "score": "dot", "fingerprint": ""})}

    def flush(self, name, *, timeout):
        self.asked.append((name, timeout))
        self.clock[0] += min(self.seconds, timeout)
        if self.seconds >= timeout:
            raise self.failure(message=f"wait for flush timeout, collection: {name}")
        if self.seconds < 0:
            raise self.failure(code=65535, message="no room")

    def close(self):
        pass


@pytest.fixture
def flushing(monkeypatch):
    """A collection without a server, whose rows take so long."""

    pymilvus = pytest.importorskip("pymilvus", reason="needs pymilvus")

    def make(seconds):
        clock = [1000.0]
        client = Flushing(seconds, clock, pymilvus.MilvusException)
        connection = Connection("http://localhost:19530", collection="samekind_faces", timeout=6)
        connection._client = client
        monkeypatch.setattr(milvus_collection.time, "monotonic", lambda: clock[0])
        monkeypatch.setattr(milvus_connection.time, "sleep", lambda seconds: None)
        return client, Collection(connection, Purpose(2, "dot", ""), where='the index "faces"')

    return make


def test_a_flush_is_waited_for_longer_than_an_answer(flushing):
    client, collection = flushing(40)
    collection.flush()
    assert client.asked == [("samekind_faces", 60)]


def test_a_flush_that_takes_too_long_is_reported(flushing):
    client, collection = flushing(70)
    with pytest.raises(
        IndexServerError,
        match=r'the index "faces" has not been moved .* within 60 seconds; .* not lost: save again later',
    ):
        collection.flush()
    assert len(client.asked) == 1


def test_a_refused_flush_is_reported(flushing):
    _, collection = flushing(-1)
    with pytest.raises(IndexServerError, match=r"refused \(no room\)"):
        collection.flush()


@pytest.mark.parametrize(("failures", "code", "tries"), [(1, 2, 2), (2, 2, 2), (1, 65535, 1)])
def test_a_lost_first_connection_is_made_a_second_time(monkeypatch, failures, code, tries):
    """Seen once, right after a fork: "Wrong file descriptor generation"."""
    pymilvus = pytest.importorskip("pymilvus", reason="needs pymilvus")
    asked = []

    def connect(**settings):
        asked.append(settings["uri"])
        if len(asked) <= failures:
            raise pymilvus.MilvusException(code=code, message="lost")
        return "client"

    monkeypatch.setattr(pymilvus, "MilvusClient", connect)
    connection = Connection("http://localhost:19530", collection="samekind_faces", timeout=6)
    if failures < tries:
        assert connection.ask(lambda client: client) == "client"
        connection._client = None  # a word cannot hang up
    else:
        with pytest.raises(IndexServerError, match="lost"):
            connection.ask(lambda client: client)
    assert asked == ["http://localhost:19530"] * tries


@pytest.mark.servers
def test_a_released_collection_is_loaded_again(make_milvus):
    index = make_milvus(2, score="dot")
    index.add(["a"], VECTORS[:1])
    index._connection.ask(lambda it: it.release_collection(index._collection.name))
    assert list(index) == ["a"]

"""The index in PostgreSQL, beyond what every index promises."""

import threading

import pytest
import torch

from samekind.errors import SettingError
from samekind.index import Postgres, postgres, server

VECTORS = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"dimension": 16_001}, "vectors of up to 16,000 numbers, not 16,001"),
        ({"method": "hnws"}, 'no method "hnws"; did you mean "hnsw"'),
        ({"effort": 0}, "an effort of 1 or more, got 0"),
        ({"name": "Faces"}, '"Faces" cannot be the name'),
    ],
)
def test_refuses_impossible_settings_without_a_server(arguments, says):
    with pytest.raises(SettingError, match=says):
        Postgres(**{"dimension": 2, "url": "host=nowhere.invalid", "name": "faces", **arguments})


@pytest.mark.servers
def test_a_refused_batch_leaves_none_of_its_rows(make_postgres):
    index = make_postgres(2, score="dot")
    index.add(["b"], VECTORS[:1])
    with pytest.raises(SettingError, match='"b" is already there'):
        index.add(["a", "b", "c"], VECTORS)
    assert list(index) == ["b"]


@pytest.mark.servers
def test_the_database_refuses_a_duplicate_id(make_postgres, monkeypatch):
    """As if another client had added the id between the look and the copy."""
    index = make_postgres(2, score="dot")
    index.add(["a"], VECTORS[:1])
    looked = []
    present = index._table.present

    def blind_at_first(connection, ids):
        looked.append(ids)
        return set() if len(looked) == 1 else present(connection, ids)

    monkeypatch.setattr(index._table, "present", blind_at_first)
    with pytest.raises(SettingError, match='"a" is already there'):
        index.add(["b", "a"], VECTORS[:2])
    assert len(looked) == 2
    assert list(index) == ["a"]


@pytest.mark.servers
def test_clients_that_replace_at_once_leave_one_row(make_postgres, postgres_server):
    index = make_postgres(2, score="dot")
    others = [Postgres(2, url=postgres_server.url, name=index.name, score="dot") for _ in range(4)]
    failed = []

    def work(number, client):
        try:
            for turn in range(5):
                ids = ["a", "b"] if (turn + number) % 2 else ["b", "a"]
                client.add(ids, VECTORS[:2], [{"by": number}] * 2, replace=True)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=arguments) for arguments in enumerate(others)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert sorted(index) == ["a", "b"]
    one, other = index.metadata(["a", "b"])
    assert one == other  # both of one transaction
    for other in others:
        other.close()


@pytest.mark.servers
def test_ids_come_page_by_page_and_other_calls_may_come_between(make_postgres, monkeypatch):
    monkeypatch.setattr(postgres, "PAGE", 2)
    index = make_postgres(2, score="dot")
    index.add([f"item {place}" for place in range(5)], torch.ones(5, 2))
    seen = [(id, *index.metadata([id]), len(index)) for id in index]
    assert seen == [(f"item {place}", {}, 5) for place in range(5)]
    assert torch.equal(index.vectors(), torch.ones(5, 2))


@pytest.mark.servers
def test_another_scorer_walks_in_blocks(make_postgres, monkeypatch):
    monkeypatch.setattr(server, "rows_at_once", lambda queries, dimension: 3)
    index = make_postgres(2, score="dot")
    vectors = torch.arange(20.0).reshape(10, 2)
    index.add([f"item {place}" for place in range(10)], vectors)
    blocks = []

    def scorer(queries, block):
        blocks.append(len(block))
        return queries @ -block.T

    answer = index.search(torch.ones(1, 2), 4, scorer=scorer)
    assert answer.ids == [[f"item {place}" for place in range(4)]]
    assert blocks == [3, 3, 3, 1]


@pytest.mark.servers
def test_a_scorer_that_fails_leaves_the_connection_as_it_was(make_postgres):
    index = make_postgres(2, score="dot")
    index.add(["a"], VECTORS[:1])
    with pytest.raises(ZeroDivisionError):
        index.search(VECTORS, 1, scorer=lambda a, b: 1 / 0)
    assert list(index) == ["a"]


@pytest.mark.servers
def test_the_folder_keeps_how_to_search(postgres_server, tmp_path):
    index = Postgres(2, url=postgres_server.url, name="kept", method="ivfflat", effort=7)
    index.save(tmp_path / "index")
    again = Postgres.open(tmp_path / "index")
    assert (again.method, again.effort, again.name, again.url) == ("ivfflat", 7, "kept", index.url)
    index.drop()

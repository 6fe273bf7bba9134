"""What the indexes on a server share, without a server."""

import doctest
import json
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.errors import SettingError, SpaceError
from samekind.index import Exact, server
from samekind.index.server import Purpose

PURPOSE = Purpose(4, "dot", "that space")


def test_the_examples_hold():
    assert doctest.testmod(server).failed == 0


@pytest.mark.parametrize("name", ["a", "faces_2", "x" * 40])
def test_a_name_that_needs_no_quotes(name):
    server.check_name(name)


@pytest.mark.parametrize(
    "name", ["", "Faces", "2faces", "_x", "a b", 'a"; DROP TABLE samekind; --', "a.b", "é", "x" * 41, "a\n"]
)
def test_any_other_name_is_refused(name):
    with pytest.raises(SettingError, match="cannot be the name of an index on a server"):
        server.check_name(name)


@pytest.mark.parametrize(
    ("held", "says"),
    [
        (PURPOSE._replace(dimension=5), "there holds vectors of dimension 5, not 4"),
        (PURPOSE._replace(score="cosine"), "made for the score cosine, not dot"),
        (PURPOSE._replace(fingerprint="this space"), "made with another space"),
        (PURPOSE._replace(fingerprint=""), "made with another space"),
    ],
)
def test_refuses_an_index_made_for_something_else(held, says):
    server.check_same(PURPOSE, PURPOSE, where="there")
    with pytest.raises(SpaceError, match=says):
        server.check_same(PURPOSE, held, where="there")


@pytest.mark.parametrize(
    ("ids", "metadata", "says"),
    [
        (["a", "\ud800"], {}, "holds a character that a server cannot store"),
        (["é" * 1001], {}, "has 2002 bytes; a server keeps up to 2000"),
        (["a"], {"x": [1, {"y": "\0"}]}, "metadata holds a character"),
        (["a"], {"x\0": 1}, "metadata holds a character"),
        (["a"], {"x": "\udfff"}, "metadata holds a character"),
    ],
)
def test_refuses_ids_and_metadata_that_a_server_cannot_keep(ids, metadata, says):
    with pytest.raises(SettingError, match=says):
        server.check_storable(ids, [json.dumps(metadata)] * len(ids))


def test_accepts_texts_that_only_look_like_it():
    server.check_storable(
        ["é" * 1000, "\u2028😀\n'\""], [json.dumps({"\\u0000": "😀 \\ud800 é", "n": 10**30})]
    )
    assert server.storable("a")
    assert not any(server.storable(id) for id in ["", "\0", "\ud800", 1, None])


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://localhost:19530", "http://localhost:19530"),
        ("https://anna:se@cret@milvus.example:1/faces", "https://anna@milvus.example:1/faces"),
        ("http://:secret@localhost", "http://@localhost"),
        ("http://localhost?password=secret#secret", "http://localhost"),
    ],
)
def test_an_address_is_shown_without_its_password(url, shown):
    assert server.without_password(url) == shown


def test_an_address_in_the_environment_replaces_one_of_its_kind(monkeypatch):
    monkeypatch.delenv(server.ADDRESS_VARIABLE, raising=False)
    assert server.address("http://kept", ["http", "https"]) == "http://kept"
    monkeypatch.setenv(server.ADDRESS_VARIABLE, "https://anna:secret@other")
    assert server.address("http://kept", ["http", "https"]) == "https://anna:secret@other"
    assert server.address("postgresql://kept", ["postgresql"]) == "postgresql://kept"


def test_the_folder_says_where_an_index_is(tmp_path):
    server.save(tmp_path / "index", "Postgres", PURPOSE, {"url": "host=here", "name": "faces"})
    purpose, header = server.read(tmp_path / "index", "Postgres", fingerprint="that space")
    assert (purpose, header["url"], header["name"]) == (PURPOSE, "host=here", "faces")
    with pytest.raises(SpaceError, match="made with another space"):
        server.read(tmp_path / "index", "Postgres", fingerprint="")
    with pytest.raises(SpaceError, match="another backend: Postgres, not Milvus"):
        server.read(tmp_path / "index", "Milvus", fingerprint=None)


def test_refuses_a_folder_with_a_missing_key(tmp_path):
    server.save(tmp_path / "index", "Milvus", PURPOSE, {"url": "http://here"})
    with pytest.raises(SpaceError, match=r"is damaged: index.json lacks 'name'"):
        server.read(tmp_path / "index", "Milvus", fingerprint=None)


def test_notes_are_what_json_and_a_server_can_hold():
    assert json.loads(server.notes_as_text({"shortlist": [1, None]})) == {"shortlist": [1, None]}
    for bad in ({"x": float("nan")}, {"x": object()}):
        with pytest.raises(SettingError, match="notes are what JSON can hold"):
            server.notes_as_text(bad)
    with pytest.raises(SettingError, match="a character that a server cannot store"):
        server.notes_as_text({"x": "\0"})


@settings(max_examples=40)
@given(
    sizes=st.lists(st.integers(1, 5), max_size=6),
    queries=st.integers(0, 3),
    k=st.integers(1, 8),
    seed=st.integers(0, 2**16),
)
def test_a_walk_finds_what_the_exact_index_finds(sizes, queries, k, seed):
    """Small whole numbers, so that there are many ties; the blocks are of any size."""
    draw = torch.Generator().manual_seed(seed)
    vectors = torch.randint(-1, 2, (sum(sizes), 3), generator=draw).float()
    asked = torch.randint(-1, 2, (queries, 3), generator=draw).float()
    names = [f"item {place}" for place in range(len(vectors))]
    exact = Exact(3, score="dot")
    exact.add(names, vectors)
    ends = torch.tensor([0, *sizes]).cumsum(0).tolist()
    walk = [(names[a:b], vectors[a:b]) for a, b in pairwise(ends)]
    answer = server.best_while_walking(walk, asked, k, scorer=None, score="dot")
    expected = exact.search(asked, k)
    assert answer.ids == expected.ids
    assert torch.equal(answer.scores, expected.scores)


def test_hits_of_a_server_are_put_in_order():
    rows = [[(0.5, 3, "c"), (0.5, 1, "a"), (0.9, 7, "b")], [(-1.0, 1, "a"), (-2.0, 3, "c"), (-1.0, 7, "b")]]
    answer = server.in_order(rows, 2)
    assert answer.ids == [["b", "a"], ["a", "b"]]
    torch.testing.assert_close(answer.scores, torch.tensor([[0.9, 0.5], [-1.0, -1.0]]))
    assert server.in_order([[]], 2).scores.shape == (1, 0)


@pytest.mark.parametrize(("queries", "dimension"), [(0, 1), (1, 128), (1, 16_000), (10**6, 128), (200, 2048)])
def test_a_block_is_bounded(queries, dimension):
    rows = server.rows_at_once(queries, dimension)
    assert 64 <= rows <= 10_000
    assert rows == 64 or 4 * rows * max(dimension, queries) <= 32 * 2**20

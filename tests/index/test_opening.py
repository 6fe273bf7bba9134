"""The folder says which kind of index it holds."""

import json
import math
import subprocess
import sys

import pytest
import torch

from samekind import index
from samekind.errors import IndexServerError, SamekindError, SpaceError
from samekind.index import Exact, Faiss, open_index, opening


def test_knows_every_kind_there_is():
    assert {name: getattr(index, name) for name in index.INDEXES} == opening.CLASSES


@pytest.mark.parametrize("kind", [Exact, Faiss])
def test_opens_what_the_folder_holds(kind, tmp_path):
    kind(3, score="dot", fingerprint="that space").save(tmp_path / "index")
    again = open_index(str(tmp_path / "index"), fingerprint="that space")
    assert (type(again), again.dimension, again.score) == (kind, 3, "dot")
    with pytest.raises(SpaceError, match="made with another space"):
        open_index(tmp_path / "index", fingerprint="this one")


def test_refuses_an_unknown_backend(tmp_path):
    Exact(3).save(tmp_path / "index")
    header = json.loads((tmp_path / "index" / "index.json").read_text())
    (tmp_path / "index" / "index.json").write_text(json.dumps(header | {"kind": "Exakt"}))
    with pytest.raises(SpaceError, match='of the unknown backend "Exakt"; did you mean "Exact"'):
        open_index(tmp_path / "index")


def test_refuses_what_is_not_an_index(tmp_path):
    with pytest.raises(SpaceError, match="is not an index: it has no index"):
        open_index(tmp_path)
    with pytest.raises(SpaceError, match="there is no index at"):
        open_index(tmp_path / "nowhere")


def test_nothing_heavy_is_imported_for_an_index_that_does_not_need_it(tmp_path):
    Exact(3).save(tmp_path / "index")
    script = (
        "import sys; from samekind.index import open_index; open_index(sys.argv[1]); "
        "print(*(name for name in ('faiss', 'psycopg', 'pymilvus') if name in sys.modules))"
    )
    command = [sys.executable, "-c", script, tmp_path / "index"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.split()) == (0, [])


ODD = [None, True, -1, 0, 2.5, 1e308, math.nan, 10**30, "", "a", [], [[1]], {}, {"a": None}]


@pytest.mark.parametrize("kind", ["Exact", "Faiss", "Postgres", "Milvus"])
def test_any_value_anywhere_in_the_header_opens_or_is_refused_with_a_sentence(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("SAMEKIND_INDEX_URL", "postgresql://127.0.0.1:1/none")
    monkeypatch.setattr("samekind.index.milvus.Connection", _refuse)
    monkeypatch.setattr("samekind.index.postgres.Connection", _refuse)
    folder, path = tmp_path / "index", tmp_path / "index" / "index.json"
    index = Faiss(3, structure="hnsw") if kind == "Faiss" else Exact(3)
    index.add([str(place) for place in range(9)], torch.rand(9, 3))
    if kind == "Faiss":
        index.build()
    index.save(folder)
    header = json.loads(path.read_text()) | {"kind": kind}
    if kind in ("Postgres", "Milvus"):
        header |= {"url": "http://127.0.0.1:1", "name": "a", "effort": 10, "timeout": 1.0, "method": "hnsw"}
    for keys in _paths(header):
        for odd in ODD:
            path.write_text(json.dumps(_with(header, keys, odd)))
            try:
                opened = open_index(folder)
            except SamekindError:
                continue
            opened.search(torch.rand(2, opened.dimension), 2)
            opened.metadata(list(opened))


def _refuse(*_, **__):
    raise IndexServerError("no server in this test")


def _paths(value, before=()):
    """The keys that lead to every value in a table."""
    for key, inner in value.items():
        yield (*before, key)
        if isinstance(inner, dict):
            yield from _paths(inner, (*before, key))


def _with(table, keys, value):
    key, *rest = keys
    return table | {key: _with(table[key], rest, value) if rest else value}

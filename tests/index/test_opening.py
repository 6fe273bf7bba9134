"""The folder says which kind of index it holds."""

import json
import subprocess
import sys

import pytest

from samekind import index
from samekind.errors import SpaceError
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


def test_refuses_an_unknown_kind(tmp_path):
    Exact(3).save(tmp_path / "index")
    header = json.loads((tmp_path / "index" / "index.json").read_text())
    (tmp_path / "index" / "index.json").write_text(json.dumps(header | {"kind": "Exakt"}))
    with pytest.raises(SpaceError, match='of the unknown kind "Exakt"; did you mean "Exact"'):
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

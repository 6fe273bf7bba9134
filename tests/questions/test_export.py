"""A space as files: what the question tells, and what it refuses."""

import copy
import importlib
import json

import pytest
import torch

from samekind import questions
from samekind.errors import SpaceError
from samekind.exporting import latency
from samekind.index import Exact, space_fingerprint
from samekind.index.mapped import index_fingerprint, stored_dimension
from samekind.portable import PortableSpace

pytest.importorskip("onnxscript")


@pytest.fixture(scope="module")
def small_space(known_space):
    space = copy.deepcopy(known_space)
    space.normalised = space.choices = None
    return space


def test_tells_sizes_differences_and_times(small_space, tmp_path, monkeypatch):
    monkeypatch.setattr(latency, "SECONDS", 0.0)
    index = Exact(5, fingerprint=space_fingerprint(small_space))
    index.add(["x", "y"], torch.eye(5)[:2], [{"label": "a"}, {}])
    answer = questions.export(small_space, tmp_path / "out", name="small", gallery=index)
    content = json.loads(json.dumps(answer.to_json()))
    assert content["files"] == {path.name: path.stat().st_size for path in (tmp_path / "out").iterdir()}
    assert content["bytes"] == sum(content["files"].values())
    assert content["compared on"] == "32 random items"
    assert all(row["difference"] < 1e-4 for row in content["parity"])
    assert [row["batch"] for row in content["latency"]] == [1, 32]
    assert content["gallery"] == 2
    gallery = PortableSpace.open(tmp_path / "out").gallery
    assert (gallery.ids, gallery.labels) == (["x", "y"], ["a", None])


def test_an_index_of_mapped_vectors_is_refused(small_space, tmp_path):
    index = Exact(
        stored_dimension(small_space, "fitted"),
        score="dot",
        fingerprint=index_fingerprint(small_space, "fitted"),
    )
    with pytest.raises(SpaceError, match='mapped for the score "fitted"'):
        questions.export(small_space, tmp_path / "out", name="x", gallery=index)
    assert not (tmp_path / "out").exists()


def test_a_difference_leaves_nothing(small_space, tmp_path, monkeypatch):
    def differ(*_):
        raise SpaceError("the export differs from the space")

    monkeypatch.setattr(importlib.import_module("samekind.questions.export"), "differences", differ)
    with pytest.raises(SpaceError, match="differs"):
        questions.export(small_space, tmp_path / "out", name="x")
    assert list(tmp_path.iterdir()) == []

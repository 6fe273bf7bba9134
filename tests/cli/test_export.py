"""samekind export: files, and a table of what they are worth."""

import json

import pytest

from samekind.exporting import latency
from samekind.portable import PortableSpace

pytest.importorskip("onnxscript")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(latency, "SECONDS", 0.0)


def test_writes_a_folder_and_prints_tables(samekind, trained, tmp_path):
    answer = samekind("export", trained, "--out", tmp_path / "out")
    assert answer.status == 0
    for words in ("encoder.onnx", "embeddings", "similarity, classes", "onnxruntime", "samekind serve"):
        assert words in answer.out
    portable = PortableSpace.open(tmp_path / "out")
    assert set(portable.description.tradeoffs) == set(portable.kinds)


def test_compares_on_given_items_and_says_so_as_json(samekind, trained, pictures, tmp_path):
    answer = samekind("export", trained, "--out", tmp_path / "out", "--data", pictures, "--json")
    content = json.loads(answer.out)
    assert content["folder"] == str(tmp_path / "out")
    assert content["compared on"].endswith("given items")
    again = samekind("export", trained, "--out", pictures)
    assert again.status == 2
    assert "is no export; choose another folder" in again.err

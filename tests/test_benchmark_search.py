"""The benchmark of search: what one run measured stays where another measures other kinds."""

import importlib.util
import json
from pathlib import Path

import pytest

PATH = Path(__file__).parents[1] / "benchmarks/search.py"


def measured(stage, _kind):
    """What a kind's own process answers, in place of half an hour."""
    seconds = {"add": 1.0, "build and save": 2.0, "shortlist": 3.0}
    if stage == "build":
        return {"seconds": seconds, "shortlist": {"plain_size": None}}
    found = {"size in use": 9, "recall": 0.96, "recall half-width": 0.01, "MiB": 5.0}
    return found | {"queries a second": 30.0, "exhaustive queries a second": 1.0}


@pytest.fixture
def run(monkeypatch, tmp_path):
    """The command with some kinds, and the kinds whose figures are there afterwards."""
    spec = importlib.util.spec_from_file_location("benchmark_search", PATH)
    search = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(search)
    monkeypatch.setattr(search, "in_its_own_process", measured)
    monkeypatch.setattr(search.torch, "set_num_threads", lambda _: None)

    def command(*kinds):
        folders = ["--cache", str(tmp_path / "cache"), "--out", str(tmp_path / "out")]
        monkeypatch.setattr("sys.argv", ["search.py", "--vectors", "1000", *folders, "--kinds", *kinds])
        search.main()
        return json.loads((tmp_path / "out" / "vectors-1000.json").read_text())["kinds"]

    return command


def test_kinds_of_an_earlier_run_are_kept(run, capsys):
    assert list(run("flat", "hnsw")) == ["flat", "hnsw"]
    capsys.readouterr()
    assert list(run("pq", "flat")) == ["flat", "hnsw", "pq"]
    shown = capsys.readouterr().out
    assert "30x" in shown
    assert "hnsw" not in shown  # which this run has not measured

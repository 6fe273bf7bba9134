"""The benchmark of search: what one run measured stays where another measures other types, one baseline for
all, and the page has what was stored.
"""

import importlib.util
import json
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[1]
#: Queries a second of each type, in place of half an hour, and where it compares everything.
RATES = {"exact": (40.0, 2.0), "milvus": (20.0, 0.5)}


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    spec = importlib.util.spec_from_file_location("benchmark_search", ROOT / "benchmarks/search.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measured(stage, index_type):
    """What a type's own process answers."""
    seconds = {"add": 1.0, "build and save": 2.0, "shortlist": 3.0}
    if stage == "build":
        return {"seconds": seconds, "shortlist": {"plain_size": None, "distilled": True}}
    rate, everything = RATES.get(index_type, (30.0, 1.0))
    figures = {"size in use": 9, "recall": 0.96, "recall half-width": 0.01, "MiB": 5.0}
    return figures | {"queries a second": rate, "exhaustive queries a second": everything}


@pytest.fixture
def run(benchmark, monkeypatch, tmp_path):
    """The command with some types, and the types whose figures are there afterwards."""
    monkeypatch.setattr(benchmark, "in_its_own_process", measured)
    monkeypatch.setattr(benchmark.torch, "set_num_threads", lambda _: None)

    def command(*types):
        folders = ["--cache", str(tmp_path / "cache"), "--out", str(tmp_path / "out")]
        monkeypatch.setattr("sys.argv", ["search.py", "--vectors", "1000", *folders, "--types", *types])
        benchmark.main()
        return json.loads((tmp_path / "out" / "vectors-1000.json").read_text())["kinds"]

    return command


def test_types_of_an_earlier_run_are_kept(run, capsys):
    assert list(run("flat", "hnsw")) == ["flat", "hnsw"]
    capsys.readouterr()
    assert list(run("pq", "flat")) == ["flat", "hnsw", "pq"]
    shown = capsys.readouterr().out
    assert "FAISS PQ" in shown
    assert "HNSW" not in shown  # which this run has not measured
    assert "times" not in shown  # nobody measured what they would be compared with


def test_every_ratio_is_to_the_exact_index(run, capsys):
    """Milvus is 40 times as fast as comparing everything through itself, which says nothing beside others."""
    run("exact")
    assert "| exact | 20 times |" in capsys.readouterr().out
    run("milvus", "flat")
    rows = capsys.readouterr().out.splitlines()
    assert "| Milvus | 10 times | 0.960 ± 0.010 | 9 | 20 | 0.5 | 3.0 | 3 | 5 |" in rows
    assert "| FAISS flat | 15 times | 0.960 ± 0.010 | 9 | 30 | 1 | 3.0 | 3 | 5 |" in rows


@pytest.mark.parametrize(
    ("rate", "written"), [(1234.5, "1,234"), (270.2, "270"), (61.23, "61.2"), (0.0961, "0.0961")]
)
def test_a_rate_is_written_without_powers(benchmark, rate, written):
    assert benchmark._rate(rate, 3) == written


def test_comparing_everything_is_timed_more_than_once(benchmark, monkeypatch):
    ticks = iter([0, 4, 0, 40, 0, 8])
    monkeypatch.setattr(benchmark.time, "perf_counter", lambda: next(ticks))
    space = benchmark.as_space(benchmark.PairsNetwork(dimension=benchmark.DIMENSION, hidden=4, depth=1))
    index = benchmark.Exact(benchmark.DIMENSION)
    index.add([str(place) for place in range(12)], torch.randn(12, benchmark.DIMENSION))
    queries = torch.randn(6, benchmark.DIMENSION)
    assert benchmark.exhaustive_seconds(space, index, queries, 3) == 2  # the median of 1, 10 and 2


@pytest.mark.parametrize("vectors", [100_000, 1_000_000])
def test_the_page_has_what_was_stored(benchmark, vectors):
    kinds = json.loads((ROOT / f"results/search/vectors-{vectors}.json").read_text())["kinds"]
    page = (ROOT / "docs/results/speed.md").read_text()
    assert benchmark.table(kinds, kinds["exact"]["exhaustive queries a second"]) in page

"""Folders by the commands of a user: what is read of an answer, the table, and the page."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    spec = importlib.util.spec_from_file_location("whole_folders", ROOT / "benchmarks/whole_folders.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    for name in [name for name in sys.modules if name.partition(".")[0] == "grids"]:
        monkeypatch.delitem(sys.modules, name)


def an_answer():
    """Of `samekind evaluate`: one row for each figure, and the same by a kind that was not chosen."""
    reference = "of untrained features"
    values = {
        ("classification", "seen", "accuracy", "discriminant"): 0.7,
        ("retrieval", "unseen", "Recall@1", "fitted"): 0.8,
        ("retrieval", "unseen", "Recall@1", "similarity"): 0.1,
        ("verification", "unseen", "EER", "normalised"): 0.2,
        ("verification", "unseen", "EER", "fitted"): 0.9,
        ("few-shot beside known", "seen, unseen", "5-way 5-shot harmonic mean", "fitted"): 0.6,
        ("reference", "seen", "accuracy", f"logistic regression {reference}"): 0.65,
        ("reference", "seen", "accuracy", f"nearest mean {reference}"): 0.6,
        ("reference", "seen, unseen", "5-way 5-shot harmonic mean", f"nearest mean {reference}"): 0.5,
        ("reference", "unseen", "Recall@1", f"centred cosine {reference}"): 0.75,
        ("reference", "unseen", "EER", f"centred cosine {reference}"): 0.25,
        (
            "reference",
            "seen, unseen",
            "5-way 5-shot harmonic mean",
            f"nearest centred mean {reference}",
        ): 0.55,
    }
    names = ("question", "items", "measure", "kind")
    rows = [dict(zip(names, key, strict=True)) | {"value": value} for key, value in values.items()]
    chosen = {"pairs": "normalised", "neighbours": "fitted", "classes": "fitted"}
    return {"systems": {"birds": rows}, "choices": {"birds": chosen}}


def test_figures_are_by_the_kinds_that_were_chosen(benchmark):
    figures = benchmark.figures_of(an_answer())
    assert figures["house recipe"] == pytest.approx(
        {"accuracy": 70, "Recall@1": 80, "EER": 20, "enrolment": 60}
    )
    assert figures["nearest mean"] == pytest.approx({"accuracy": 60, "enrolment": 50})
    folders = {name: {"figures": figures} for name in ("one", "two")}
    lines = benchmark.table(folders).splitlines()
    assert lines[2] == "| one | **house recipe** | 70.0 | 80.0 | 20.0 | 60.0 |"
    assert lines[-1] == (
        "| all 2 | house recipe less centred cosine |  | 5.00 ± 0.00 | -5.00 ± 0.00 | 5.00 ± 0.00 |"
    )


def test_the_page_has_the_table_of_what_was_run(benchmark):
    page = (ROOT / "docs/results/house.md").read_text(encoding="utf-8")
    stored = json.loads((ROOT / benchmark.STORED).read_text(encoding="utf-8"))
    assert benchmark.page_with(page, benchmark.table(stored), mark=benchmark.MARK) == page

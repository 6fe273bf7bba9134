"""The benchmark of the digits: its tables are those of their page, and leave out no side of a comparison."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("benchmark_digits", ROOT / "benchmarks/digits.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def stored(benchmark, tmp_path_factory):
    """What five seeds gave; a run that is not stored would be run, and fails here."""
    results = ROOT / "results/digits"
    assert len(list(results.glob("*.json"))) == 5 * (len(benchmark.LEARNED) + 1)
    return benchmark.collect(5, results, tmp_path_factory.mktemp("work"))


def test_the_tables_of_the_page_are_those_of_the_stored_runs(benchmark, stored):
    page = (ROOT / "docs/results/digits.md").read_text()
    assert benchmark.table(stored) in page
    assert benchmark.differences(stored) in page


def test_better_cosines_have_a_line_where_they_were_measured(benchmark, stored):
    cosines = [key for key in stored if key[1] in (benchmark.CENTRED, benchmark.NORMALISED)]
    without = {key: values for key, values in stored.items() if key not in cosines}
    assert cosines
    assert "centred cosine" not in benchmark.table(without)
    more = {("verification", kind, "unseen", "EER"): [0.1, 0.2, 0.3] for kind in benchmark.SCORES}
    lines = benchmark.table(stored | more).splitlines()
    assert [line.split(" | ")[1] for line in lines if "20.00 ± 24.84" in line] == [
        "learned similarity",
        "cosine",
        "fused",
        "centred cosine",
        "AS-norm cosine",
    ]


def test_raw_pixels_by_a_loop(benchmark):
    """The nearest training item by the cosine, and the first neighbour, of every test item."""
    sets = benchmark.prepare(benchmark.digits(), unseen=benchmark.UNSEEN, seed=3)
    values = {(items, measure): value for items, measure, value in benchmark.raw_pixels(3)}

    def units(items):
        pixels = items.inputs.flatten(1).double().numpy()
        return pixels / np.linalg.norm(pixels, axis=1, keepdims=True), items.labels.tolist()

    (known, classes), (asked, truth) = units(sets.train), units(sets.test)
    right = [classes[int(np.argmax(known @ vector))] == own for vector, own in zip(asked, truth, strict=True)]
    assert values["seen", "accuracy"] == pytest.approx(np.mean(right))
    vectors, labels = units(sets.unseen)
    alike = vectors @ vectors.T
    np.fill_diagonal(alike, -2)
    neighbours = [labels[int(np.argmax(row))] == own for row, own in zip(alike, labels, strict=True)]
    assert values["unseen", "Recall@1"] == pytest.approx(np.mean(neighbours))


def test_differences_are_paired_by_seed_for_errors_and_for_neighbours(benchmark):
    """The learned score is better by 1, 2 and 3 points of EER, worse by as many of Recall@1."""
    base = [0.10, 0.20, 0.30]
    change = [0.01, 0.02, 0.03]
    measured = {}
    for system, kind in [(system, kind) for system in benchmark.LEARNED for kind in benchmark.SCORES]:
        moved = change if kind == "similarity" else [0.0] * 3
        for items in ("seen", "unseen"):
            measured[system, kind, items, "EER"] = [a - b for a, b in zip(base, moved, strict=True)]
            measured[system, kind, items, "Recall@1"] = [a - b for a, b in zip(base, moved, strict=True)]
    for items in ("seen", "unseen"):
        measured[*benchmark.BASELINE, items, "EER"] = base
        measured[*benchmark.BASELINE, items, "Recall@1"] = base
    head, _, first, second, *_ = benchmark.differences(measured).splitlines()
    assert head == "| difference | EER, seen | EER, unseen | Recall@1, seen | Recall@1, unseen |"
    # Student's t with two degrees of freedom: 4.303 * 1 point / sqrt(3)
    assert first == "| prototypical: learned - cosine" + 4 * " | -2.00 ± 2.48" + " |"
    assert second == "| prototypical: fused - cosine" + 4 * " | 0.00 ± 0.00" + " |"  # and no -0.00

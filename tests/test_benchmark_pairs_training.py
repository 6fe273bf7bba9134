"""The benchmark of training with all pairs: what its file holds of earlier runs."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
import torch

PATH = Path(__file__).parents[1] / "benchmarks/pairs_training.py"


@pytest.fixture
def measured(monkeypatch, tmp_path):
    """Runs the benchmark with the precisions given, and figures that need no time: what was asked for."""
    monkeypatch.syspath_prepend(str(PATH.parent))
    spec = importlib.util.spec_from_file_location("benchmark_pairs_training", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    turns = []

    def compare(arguments, precision):
        turns.append(precision)
        return {"turn": len(turns)}

    def run(*precisions):
        arguments = [str(PATH), "--out", str(tmp_path), "--batch", "8"]
        monkeypatch.setattr(sys, "argv", [*arguments, "--precisions", *precisions])
        module.main()
        return json.loads(target.read_text())

    target = tmp_path / "training-cpu-8.json"
    monkeypatch.setattr(module, "compare", compare)
    return run, target, turns


def test_the_figures_of_a_precision_that_is_not_measured_stay(measured):
    """Before, they were gone."""
    run, _, _ = measured
    facts = {key: value for key, value in run("float32", "bfloat16").items() if key in ("batch", "torch")}
    assert facts == {"batch": 8, "torch": torch.__version__}
    figures = run("float32")
    assert (figures["float32"], figures["bfloat16"]) == ({"turn": 3}, {"turn": 2})
    figures = run("bfloat16")
    assert (figures["float32"], figures["bfloat16"]) == ({"turn": 3}, {"turn": 4})
    assert list(figures) == ["batch", "machine", "torch", "float32", "bfloat16"]


@pytest.mark.parametrize("fact", ["machine", "torch"])
def test_figures_of_elsewhere_are_not_put_beside_the_new_ones(measured, fact):
    run, target, turns = measured
    written = {**run("float32", "bfloat16"), fact: "another"}
    target.write_text(json.dumps(written))
    with pytest.raises(SystemExit, match=f"has figures of bfloat16 with {fact} another, and here it is"):
        run("float32")
    assert turns == ["float32", "bfloat16"]  # told before anything was measured
    assert json.loads(target.read_text()) == written
    assert run("float32", "bfloat16")[fact] != "another"

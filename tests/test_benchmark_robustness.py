"""The study of a published attack beside a sound one: a small run from training to table, and its page."""

import importlib
import json
import sys
from pathlib import Path

import pytest
import torch

from samekind.data import digits

ROOT = Path(__file__).parents[1]
OWN = ("grid", "tables", "carry_out")


@pytest.fixture
def load(monkeypatch):
    """A module of the study, as its own command would import it."""
    for folder in (ROOT / "benchmarks", ROOT / "benchmarks/robustness"):
        monkeypatch.syspath_prepend(str(folder))

    def forget():
        for name in [name for name in sys.modules if name in OWN or name.partition(".")[0] == "grids"]:
            monkeypatch.delitem(sys.modules, name)

    forget()
    yield importlib.import_module
    forget()


def test_a_small_run_is_trained_attacked_and_tabled(load, tmp_path, monkeypatch):
    carry_out, grid, running = load("carry_out"), load("grid"), load("grids.running")
    for name, few in {"QUICK": 6, "STEPS": 2, "RESTARTS": 1, "QUERIES": 2}.items():
        monkeypatch.setattr(carry_out, name, few)
    monkeypatch.setattr(carry_out, "heads", lambda _: ["auxiliary"])
    monkeypatch.setattr(carry_out, "digits", lambda: digits().take(torch.arange(300)))
    monkeypatch.setitem(grid.PUBLISHED_STEPS, "digits", (1, 2))
    monkeypatch.setitem(grid.EPOCHS, "digits", 1)
    place = running.Place(tmp_path, tmp_path / "out", tmp_path / "work", "cpu", float("inf"), True)
    experiment, *others = grid.grid(quick=True)
    assert "of attacks" in carry_out.carry_out(experiment, place)
    assert carry_out.carry_out(experiment, place) == "was there"
    assert {carry_out.carry_out(other, place) for other in others} == {"left out: no files"}
    content = json.loads(place.result_of(experiment).read_text(encoding="utf-8"))
    assert list(content["heads"]) == ["auxiliary"]
    written = load("tables").tables(load("grids.results").results_in(place.out))
    for attack in ("FGSM as published", "PGD-2 as published", "PGD-2, the same on logits", "sound"):
        assert f"| dense layer | {attack} |" in written


def test_a_full_grid_has_three_seeds_of_each(load):
    names = [experiment.name for experiment in load("grid").grid()]
    assert names == [f"{data}-{seed}" for data in ("cifar10", "mnist") for seed in range(3)]


def test_the_page_has_the_tables_of_what_was_run(load):
    results = load("grids.results").results_in(ROOT / "results/robustness")
    page = (ROOT / "docs/results/robustness.md").read_text(encoding="utf-8")
    assert load("grids.tables").page_with(page, load("tables").tables(results), mark="tables") == page

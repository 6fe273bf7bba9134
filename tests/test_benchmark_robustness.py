"""The study of a published attack beside a sound one: a small run from training to table, and its page."""

import json
from pathlib import Path

import torch

from samekind.data import digits

ROOT = Path(__file__).parents[1]
STUDY = "robustness"


def test_a_small_run_is_trained_attacked_and_tabled(load, tmp_path, monkeypatch):
    carry_out, grid, running = load("carry_out"), load("grid"), load("grids.running")
    small = {"QUICK": 6, "DRAWS": 50}
    for name, few in small.items():
        monkeypatch.setattr(carry_out, name, few)
    monkeypatch.setattr(carry_out, "digits", lambda: digits().take(torch.arange(300)))
    few_steps = grid.DATA["digits"]._replace(
        published=(1, 2), defence_steps=1, sound=(2, 1, 2), brief=(2, 1, 2)
    )
    monkeypatch.setitem(grid.DATA, "digits", few_steps)
    place = running.Place(tmp_path, tmp_path / "out", tmp_path / "work", "cpu", float("inf"), True)
    plain, defended, _, *others = grid.grid(quick=True)
    for experiment in (plain, defended):
        assert "of attacks" in carry_out.carry_out(experiment, place)
    assert carry_out.carry_out(plain, place) == "was there"
    assert {carry_out.carry_out(other, place) for other in others} == {"left out: no files"}
    content = json.loads(place.result_of(defended).read_text(encoding="utf-8"))
    assert (content["variant"], content["defence"]["method"]) == ("digits-trades", "trades")
    assert list(content["heads"]) == ["similarity", "auxiliary"]
    assert set(content["questions"]) == {"pair", "neighbour"}
    written = load("tables").tables(load("grids.results").results_in(place.out))
    for row in ("| trades | dense layer |", "| none | similarity |", "adversarial EER", "| input, linf |"):
        assert row in written
    assert "certified accuracy" in written


def test_a_full_grid_has_three_seeds_of_each(load):
    grid = load("grid")
    experiments = grid.grid()
    assert len(experiments) == 3 * sum(map(len, grid.WANTED.values()))
    assert [experiment.name for experiment in experiments[:4]] == [
        "cifar10-0", "cifar10-1", "cifar10-2", "cifar10-all-0",
    ]  # fmt: skip


def test_a_trial_has_every_run_that_needs_a_gpu(load):
    grid = load("grid")
    tried = {experiment.name for experiment in grid.grid(quick=True)}
    assert {f"{name}-0" for name in ("cifar10", "cifar10-trades", "cifar10-l2-0.25", "mnist-trades")} <= tried
    assert {"digits-0", "digits-trades-0", "digits-noise-0"} < tried
    assert not any("narrow" in name or "cut" in name for name in tried)


def test_every_run_of_a_trial_has_one_epoch(load):
    grid = load("grid")
    for experiment in grid.grid(quick=True):
        assert grid.run_of(experiment, digits(), quick=True).epochs == 1


def test_table_5_6_needs_all_five_trainings(load):
    tables = load("tables")
    spaces = {
        budget: {name: 0.1 * place**power for power, name in enumerate(tables.MEASURES, start=1)}
        for place, budget in enumerate(tables.BUDGETS, start=1)
    }
    variants = {name: [{"seed": 0, "representation": {"space": space}}] for name, space in spaces.items()}
    other = dict.fromkeys(tables.MEASURES, 9.0)  # of a seed that the others lack
    variants["none"].append({"seed": 1, "representation": {"space": other}})
    written = tables._together(variants)
    assert "| D_inter | 0.943 (p 0.016) | 1.000 (p 0.017) |" in written
    del variants["l2-0.5"]
    assert tables._together(variants) == ""


def test_the_figures_of_the_thesis_have_its_correlations(load):
    """Table 5.6 as it is printed; the two rows of MC are those of table 5.1."""
    tables, thesis = load("tables"), load("thesis")
    assert tuple(thesis.SPACES) == tables.BUDGETS
    found = tables.correlations(list(thesis.SPACES.values()))
    printed = {
        "phi": (-0.9058, -1.0),
        "R2": (-0.9917, -1.0),
        "directions": (0.9115, 0.7),
        "rho": (-0.7513, -0.6),
        "MC linf": (0.9892, 1.0),
    }
    for name, both in printed.items():
        assert [round(value, 4) for value, _ in found[name].values()] == list(both)


def test_the_thesis_stands_beside_cifar10_alone(load):
    tables, thesis = load("tables"), load("thesis")
    space = {**dict.fromkeys(tables.MEASURES, 0.5), "nearest mean": 0.125}
    spaces = {
        training: {**space, **{name: 2 * value for name, value in measures.items()}}
        for training, measures in thesis.SPACES.items()
    }
    variants = {name: [{"seed": 0, "representation": {"space": one}}] for name, one in spaces.items()}
    alone = tables._together(variants)
    assert "thesis" not in alone
    assert "| phi | -0.906 (p 0.034) | -1.000 (p 0.017) |" in alone
    both = tables._together(variants, list(thesis.SPACES.values()))
    assert "| Pearson | Pearson, thesis | Spearman | Spearman, thesis |" in both
    assert "| phi | -0.906 (p 0.034) | -0.906 | -1.000 (p 0.017) | -1.000 |" in both
    page = tables.tables(load("grids.results").results_in(ROOT / "results/robustness"))
    assert page.count("Pearson, thesis") == page.count("The same in Kim's thesis") == 1
    beside = page.partition("The same in Kim's thesis")[2]
    assert "| l2-1 | 0.300 | 0.223 | 0.538 | 0.261 | 2.063 | 0.481 | 75.000 | 1.457 |  |  |" in beside
    assert "| input, linf |  |  |  |  | 0.180 |  |  |  | 0.182 | 0.214 |" in beside


def test_every_run_of_the_grid_is_one(load):
    grid = load("grid")
    items = digits()
    for experiment in grid.grid(seeds=1):
        run = grid.run_of(experiment, items)
        assert (run.defence is not None) == (experiment.defence not in ("none", "noise"))
        if run.defence is not None and run.defence.norm == "linf":
            assert run.defence.epsilon == grid.DATA[experiment.data].epsilon


def test_on_large_sets_the_published_attack_stands_beside_sound_ones(load):
    grid, settings_of = load("grid"), load("carry_out").settings_of
    names = [name for name, *_ in settings_of(grid.Experiment("cifar10", 0))]
    assert names == [
        "FGSM as published", "PGD-7 as published", "PGD-20 as published", "PGD-20, the same on logits",
        "FGSM", "PGD-7", "PGD-20", "sound",
    ]  # fmt: skip
    defended = list(settings_of(grid.Experiment("cifar10", 0, "all")))
    assert [name for name, *_ in defended] == [
        "PGD-7 as published", "PGD-20 as published", "FGSM", "PGD-7", "PGD-20", "sound",
    ]  # fmt: skip
    assert [name for name, *_, checked in defended if checked] == ["sound"]


def test_the_page_has_the_tables_of_what_was_run(load):
    results = load("grids.results").results_in(ROOT / "results/robustness")
    page = (ROOT / "docs/results/robustness.md").read_text(encoding="utf-8")
    assert load("grids.tables").page_with(page, load("tables").tables(results), mark="tables") == page

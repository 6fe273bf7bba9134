"""The grids of runs: processes, verdicts, tables, the birds they are about, and that every run is one."""

import dataclasses
import importlib
import itertools
import json
import math
import re
import shlex
import shutil
import subprocess
import sys
import time
import zipfile
from io import BytesIO
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from torch import nn
from typer.testing import CliRunner

from samekind.cli.main import app
from samekind.data import Items, SplitSettings, clusters, digits, prepare
from samekind.evaluation import Row
from samekind.measures import equal_error_rate
from samekind.measures.geometry import step_dynamics
from samekind.prototypes import SupportMeans
from samekind.recipes import few_shot, fit, unseen, verification
from samekind.similarities import Cosine
from samekind.space import MetricSpace
from samekind.training import Part, Run, RunFolder, build_space, launch, train

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
#: What the folders of grids call the same, and what imports it.
OWN = (
    "grid",
    "claims",
    "tables",
    "carry_out",
    "pictures",
    "sets",
    "systems",
    "teaching",
    "published",
    "cases",
)
OWN += ("speed", "steps", "drawn", "takeaway")
#: A number in a text, and what a text links to; numbers of the page on pictures that nobody measured: years,
#: figures, datasets' names and settings.
NUMBER, PICTURE = re.compile(r"(?<![\w-])\d[\d,]*(?:\.\d+)?"), re.compile(r"\]\([^)]*\)")
SETTINGS = {"2020", "2", "3", "0", "1", "64", "0.1", "0.05"}


@pytest.fixture
def load(monkeypatch):
    """A module of a benchmark, as its own command would import it."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))

    def module(name, folder=None):
        if folder is not None:
            monkeypatch.syspath_prepend(str(BENCHMARKS / folder))
            for own in OWN:
                monkeypatch.delitem(sys.modules, own, raising=False)
        return importlib.import_module(name)

    yield module
    for imported in [name for name in sys.modules if name in OWN or name.partition(".")[0] == "grids"]:
        monkeypatch.delitem(sys.modules, imported)


# --- carrying out -----------------------------------------------------------------------------------

GRID = """
import os, sys, time
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, {benchmarks!r})
from grids.running import Place, run_grid

def carry_out(experiment, place):
    place.out.write_text(str(os.getpid()))
    time.sleep(600)

if __name__ == "__main__":
    out = Path({out!r})
    place = Place(out, out, out, "cpu", float("inf"), True)
    run_grid([SimpleNamespace(name="sleeps-0")], carry_out, place, 1)
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="asks Linux who lives")
def test_runs_end_where_their_grid_is_killed(tmp_path):
    script, told = tmp_path / "grid.py", tmp_path / "worker"
    script.write_text(GRID.format(benchmarks=str(BENCHMARKS), out=str(told)))
    grid = subprocess.Popen([sys.executable, script])
    wait_until(lambda: told.exists() and told.read_text())
    worker = int(told.read_text())
    assert lives(worker)
    grid.kill()
    grid.wait()
    wait_until(lambda: not lives(worker))


def lives(process):
    """The dead whom nobody collected do not."""
    try:
        return "(zombie)" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


def wait_until(true, *, seconds=100):
    for _ in range(10 * seconds):
        if true():
            return
        time.sleep(0.1)
    raise TimeoutError(f"waited for {seconds} seconds")


# --- which epoch is kept ----------------------------------------------------------------------------


def test_every_score_is_judged_at_the_epoch_that_is_its_best(load, tmp_path, monkeypatch):
    selection = load("grids.selection")
    told = {"similarity": [0.9, 0.1, 0.2], "cosine": [0.1, 0.7, 0.7], "fused": [0.1, 0.2, 0.3]}
    weights = []

    def validate(space):
        weights.append(next(space.encoder.parameters()).detach().clone())
        epoch = len(weights) - 1  # 0 is the start
        return {"recall@1": 0.5, **{f"recall@1 {kind}": values[epoch - 1] for kind, values in told.items()}}

    monkeypatch.setattr(selection, "validation", lambda *_, **__: validate)
    items = clusters(classes=4, items=6, dimension=5)
    sets = prepare(items, seed=0)
    run = verification(items.shape).override(["epochs=3", 'validate=["retrieval"]', "watch=recall@1"])
    space, best = selection.train_for_each(run, sets, folder=tmp_path / "run", device="cpu")
    assert selection.epochs_as_json(best) == {
        "similarity": {"epoch": 1, "value": 0.9},
        "cosine": {"epoch": 3, "value": 0.7},  # the later of two that are as good
        "fused": {"epoch": 3, "value": 0.3},
    }
    asked = []

    def about(space):
        asked.append(next(space.encoder.parameters()).detach().clone())
        return [Row("", "", "", kind, float(len(asked))) for kind in (*told, "embedding")]

    def references(space):
        assert torch.equal(next(space.encoder.parameters()), asked[-1])
        return [Row("", "", "", "AS-norm cosine", float(len(asked)))]

    *rows, last = selection.rows_of_each(space, best, about, references)
    assert (last.kind, last.value) == ("AS-norm cosine", 2.0)  # with the cosine, once
    assert [(row.kind, row.value) for row in rows] == [
        ("similarity", 1.0),
        ("cosine", 2.0),
        ("fused", 2.0),
        ("embedding", 2.0),
    ]
    for seen, epoch in zip(asked, (1, 3), strict=True):
        assert torch.equal(seen, weights[epoch])


@pytest.mark.parametrize("schedule", ["multi-step", "inverse-square-root", "cosine"])
def test_a_second_training_ends_at_the_last_epoch_that_is_kept(load, tmp_path, schedule):
    """It has the weights that a training to the end has there, and asks nothing of validation items."""
    selection = load("grids.selection")
    items = clusters(classes=4, items=6, dimension=5)
    sets = dataclasses.replace(prepare(items, seed=0), validation=None)
    changes = ["epochs=5", f"schedule.name={schedule}", "schedule.milestones=[1, 4]"]
    run = verification(items.shape).override(changes)
    reached = []

    def keep(space):
        reached.append({name: tensor.clone() for name, tensor in space.state_dict().items()})
        return {run.watch: 0.0}

    train(run, sets.train, folder=tmp_path / "to-the-end", validate=keep)
    again = tmp_path / "again"
    _, weights = selection.refitted(run, sets, {1, 3}, folder=again, device="cpu")
    assert sorted(weights) == [1, 3]
    for epoch, kept in weights.items():
        assert all(torch.equal(kept[name], value) for name, value in reached[epoch].items())
    assert len(RunFolder(again).record.lines()) == (5 if schedule == "cosine" else 3)


# --- verdicts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "first", "second", "verdict"),
    [
        ({}, [1.0, 1.1, 0.9], [3.0, 3.0, 3.0], "holds"),
        ({}, [3.0, 3.1, 2.9], [1.0, 1.0, 1.0], "does not hold"),
        ({}, [1.0, 9.0, 1.0], [3.0, 3.0, 3.0], "cannot be told"),
        ({"better": "higher"}, [3.0, 3.1, 2.9], [1.0, 1.0, 1.0], "holds"),
        ({"better": "higher", "by": 4.0}, [3.0, 3.1, 2.9], [1.0, 1.0, 1.0], "does not hold"),
        ({"better": "higher", "by": 4.0}, [6.0, 6.1, 5.9], [1.0, 1.0, 1.0], "holds"),
        ({"by": 1.0}, [1.0, 1.1, 0.9], [1.5, 1.5, 1.5], "does not hold"),
        ({"within": 0.5}, [1.0, 1.1, 0.9], [1.0, 1.0, 1.0], "holds"),
        ({"within": 0.5}, [9.0, 9.1, 8.9], [1.0, 1.0, 1.0], "does not hold"),
        ({}, [1.0], [3.0], "cannot be told from one seed"),
    ],
)
def test_a_claim_is_settled_by_the_whole_interval_or_not_at_all(load, given, first, second, verdict):
    claims = load("grids.claims")
    side = claims.Side("any", "similarity")
    claim = claims.Claim("It is so.", "EER", "EER", side, side, **given)
    assert claims.in_words(claim, first, second).verdict == verdict


def test_all_claims_but_the_primary_one_are_corrected_for_their_number(load):
    claims, tables, results = load("grids.claims"), load("grids.tables"), load("grids.results")
    a, b = (claims.Side(name, "similarity") for name in "ab")
    runs = [made_up("a", seed, 0.50 + 0.01 * seed) for seed in range(3)]
    runs += [made_up("b", seed, 0.40 + 0.03 * seed) for seed in range(3)]  # 10, 8 and 6 points less
    claim = claims.Claim("It is more.", "Recall@1", "Recall@1", a, b, better="higher")
    written = tables.claims_table(results.Results(runs), [claim._replace(primary=True), *[claim] * 3])
    first, *others = written.splitlines()[2:]
    assert first.startswith("| **Primary.** It is more.")
    assert first.endswith("| holds | 0.020 |  | holds |")
    assert len(others) == 3
    assert all(other.endswith("| holds | 0.020 | 0.061 | cannot be told |") for other in others)


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({}, "holds"),
        ({"better": "higher", "by": 4.0}, "does not hold"),
        ({"within": 3.0}, "holds"),
        ({"within": 1.0}, "does not hold"),
    ],
)
def test_a_p_value_is_below_a_twentieth_where_the_interval_settles_a_claim(load, given, verdict):
    claims = load("grids.claims")
    side = claims.Side("any", "similarity")
    claim = claims.Claim("It is so.", "EER", "EER", side, side, **given)
    first, second = [1.0, 1.1, 0.9], [3.0, 3.0, 3.0]
    assert claims.in_words(claim, first, second).verdict == verdict
    assert claims.p_value(claim, first, second) < 0.05
    assert claims.p_value(claim, [1.0, 9.0, 1.0], second) > 0.05
    assert claims.p_value(claim, [1.0], [3.0]) is None


def made_up(variant, seed, value, **rest):
    row = {"measure": "Recall@1", "kind": "similarity", "value": value}
    return {"variant": variant, "seed": seed, "rows": [row], **rest}


def test_pairs_of_systems_are_compared_seed_by_seed_where_both_were_run(load):
    claims, results = load("grids.claims"), load("grids.results")
    runs = results.Results(
        [
            made_up("a", 0, 0.5),
            made_up("a", 1, 0.6),
            made_up("a", 2, 0.7),
            made_up("b", 1, 0.4),
            made_up("b", 2, 0.1),
            made_up("c", 0, 0.3),
            made_up("c", 1, 0.9),
        ]
    )
    a, b, c = (claims.Side(name, "similarity") for name in "abc")
    first, second = claims.compared(runs, claims.Claim("", "", "Recall@1", a, b))
    assert (first, second) == (pytest.approx([60, 70]), pytest.approx([40, 10]))
    # Of several pairs a seed has the mean, and only the one counts that all of them were run with.
    claim = claims.Claim("", "", "Recall@1", a, b, more=((c, a), (a, 20.0)))
    first, second = claims.compared(runs, claim)
    assert (first, second) == (pytest.approx([(60 + 90 + 60) / 3]), pytest.approx([(40 + 60 + 20) / 3]))


def test_what_was_not_trained_stands_beside_every_seed(load):
    claims, results = load("grids.claims"), load("grids.results")
    runs = [made_up("a", seed, 0.5 + seed / 10) for seed in (0, 1)]
    everything = results.Results([*runs, made_up("untrained", 0, 0.4, run=None)])
    a, untrained = (claims.Side(name, "similarity") for name in ("a", "untrained"))
    first, second = claims.compared(everything, claims.Claim("", "", "Recall@1", a, untrained))
    assert (first, second) == (pytest.approx([50, 60]), pytest.approx([40, 40]))


def test_tables_go_between_their_own_marks_and_nowhere_else(load):
    tables = load("grids.tables")
    first = ("<!-- tables: begin -->", "<!-- tables: end -->")
    second = ("<!-- birds: begin -->", "<!-- birds: end -->")
    page = f"before {first[0]} old {first[1]} {second[0]} x {second[1]} after"
    written = tables.page_with(page, "new", mark="birds")
    assert "old" in written
    assert written.endswith("<!-- birds: begin -->\n\nnew\n\n<!-- birds: end --> after")
    assert " x " not in written
    with pytest.raises(SystemExit, match="no <!-- others: begin -->"):
        tables.page_with(page, "new", mark="others")


def test_tables_of_older_runs_may_stand_on_a_page_beside(load, tmp_path):
    tables = load("grids.tables")
    page, older = tmp_path / "p.md", tmp_path / "p-older.md"
    page.write_text("<!-- tables: begin -->x<!-- tables: end -->", encoding="utf-8")
    with pytest.raises(SystemExit, match="no <!-- older tables: begin -->"):
        tables.write_tables(page, "new", mark="older tables")
    older.write_text("<!-- older tables: begin -->x<!-- older tables: end -->", encoding="utf-8")
    tables.write_tables(page, "old ones", mark="older tables")
    tables.write_tables(page, "new ones", mark="tables")
    assert "new ones" in page.read_text(encoding="utf-8")
    assert "old ones" in older.read_text(encoding="utf-8")
    assert "old ones" not in page.read_text(encoding="utf-8")


# --- the runs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["similarity", "unseen", "birds"])
@pytest.mark.parametrize("quick", [False, True])
def test_every_run_of_a_grid_is_one_and_has_a_name_of_its_own(load, folder, quick):
    grid = load("grid", folder).grid(epochs=7, quick=quick)
    names = [experiment.name for experiment in grid]
    assert len(set(names)) == len(names) > 5
    for experiment in grid:
        if experiment.run is not None:
            assert Run.from_dict(experiment.run.to_dict()) == experiment.run
            assert experiment.run.seed == int(experiment.name.rpartition("-")[2])
            assert experiment.run.epochs == (2 if quick else 7)


def test_the_unseen_grid_has_every_loss_with_every_extension_and_three_seeds(load):
    experiments = load("grid", "unseen").grid()
    names = {experiment.name for experiment in experiments}
    for loss in ("triplet", "angular", "proxy-nca"):
        for extension in ("base", "energy", "soft-adv", "adapt-adv"):
            assert {f"{loss}-{extension}-{seed}" for seed in (0, 1, 2)} <= names
    runs = {experiment.variant: experiment.run for experiment in experiments if experiment.run is not None}
    shown = {name: run.space.encoder.arguments["encoder"] for name, run in runs.items()}
    attended = {name for name, network in shown.items() if network["name"] == "Attended"}
    assert {"triplet-attention", "triplet-adapt-adv", "proxy-nca-soft-adv"} <= attended
    assert not {"triplet-base", "triplet-adversary", "proxy-anchor-64"} & attended
    assert runs["triplet-attention"].adversary is None
    assert runs["triplet-adversary"].adversary is not None
    assert runs["proxy-nca-adapt-adv-weight-0.3"].adversary.weight == 0.3


def test_the_unseen_grid_has_the_fair_starts_and_the_settings_of_other_code(load):
    grid = load("grid", "unseen")
    named = {experiment.variant: experiment for experiment in grid.grid()}
    for loss in ("triplet", "angular", "proxy-nca"):
        start = named[f"{loss}-base-from-pca"]
        assert start.directions
        assert start.run.optimiser.rates["encoder.embedding"] == start.run.optimiser.rates["encoder"] == 1e-4
    untrained = [named[f"untrained-lite0-{start}-64"] for start in ("pca", "random")]
    assert [(one.run, one.dimension, one.directions) for one in untrained] == [
        (None, 64, True),
        (None, 64, False),
    ]
    code = named["proxy-nca-as-in-code"].run
    assert (code.optimiser.epsilon, code.schedule.name, code.schedule.factor) == (1.0, "exponential", 0.94)
    assert [*named["angular-n-pair"].run.terms] == ["n-pair", "angular"]
    # All seeds of them come before what the page can do without.
    order = [experiment.name for experiment in grid.grid()]
    assert order.index("proxy-nca-base-from-pca-2") < order.index("triplet-attention-0")


def test_a_grid_compiles_networks_for_a_gpu_alone(load):
    running, run = load("grids.running"), load("grid", "similarity").experiment("verification", 0)
    on_cpu, on_gpu = (
        running.run_on(run, running.Place(Path(), Path(), Path(), device, float("inf"), False))
        for device in ("cpu", "cuda")
    )
    assert on_cpu == run
    assert on_gpu == dataclasses.replace(run, compile=True, try_convolutions=True)


@pytest.mark.parametrize(("folder", "crop"), [("unseen", "RandomCrop"), ("birds", "RandomResizedCrop")])
def test_birds_are_read_at_256_pixels_and_cut_to_224(load, folder, crop):
    for experiment in load("grid", folder).grid():
        if experiment.run is None or getattr(experiment, "network", 0):
            continue
        assert experiment.size == 256
        assert experiment.run.space.encoder.arguments["middle"] == 224
        cuts = {part.name: part.arguments for part in experiment.run.augment}
        assert cuts[crop] == {"size": 224}, experiment.name


def test_an_embedding_layer_can_begin_with_principal_directions(load):
    module = load("carry_out", "unseen")
    items = Items(torch.rand(12, 3, 32, 32).mul(255).byte(), torch.arange(12) // 2, tuple("abcdef"), "few")
    encoder = Part("ResNet10", {"stem": "cifar", "dimension": 3})
    run = unseen(items, loss="triplet", encoder=encoder)
    space = module.from_directions(run, items, "cpu")
    layer = space.encoder.embedding
    assert not layer.bias.any()
    features = space.encoder.features(items.inputs / 255)
    assert torch.allclose(layer.weight @ layer.weight.T, torch.eye(3), atol=1e-4)
    kept = (features @ layer.weight.T).square().sum()
    others = [
        (features @ torch.linalg.qr(torch.randn(features.shape[1], 3)).Q).square().sum() for _ in range(20)
    ]
    assert kept > max(others)


def test_before_its_first_step_a_training_from_directions_is_the_untrained_reference(load):
    """Features of very different lengths, which have other directions on the sphere than as they are."""
    grid, module = load("grid", "unseen"), load("carry_out")
    lengths = torch.logspace(0, 2, 12)[:, None, None, None]
    items = Items((torch.rand(12, 3, 32, 32) * lengths).byte(), torch.arange(12) // 2, tuple("abcdef"), "few")
    run = unseen(items, loss="triplet", encoder=Part("ResNet10", {"stem": "cifar", "dimension": 3}))
    space = module.from_directions(run, items, "cpu")
    reference = grid.Experiment("untrained", 0, None, dimension=3, directions=True)
    layer = module._layer(reference, space.encoder, Mock(train=items), Mock(device="cpu"))
    assert torch.equal(space.encoder.embedding.weight, layer)
    features = space.encoder.features(items.inputs / 255)
    assert torch.allclose(space.embed(items.inputs / 255), features @ layer.T, atol=1e-4)


def test_nothing_is_asked_in_a_training_of_unseen_classes_that_no_table_reads(load, tmp_path, monkeypatch):
    """The first training is asked about neighbours after each epoch, the second about nothing; of the last
    epoch there are neighbours, of the chosen one groups and pairs as well.
    """
    grid, running, module = load("grid", "unseen"), load("grids.running"), load("carry_out")
    for experiment in grid.grid():
        assert experiment.run is None or experiment.run.validate == ("retrieval",), experiment.name
    items = Items(torch.rand(24, 3, 32, 32).mul(255).byte(), torch.arange(24) // 4, tuple("abcdef"), "few")
    run = unseen(items, loss="proxy-nca", encoder=Part("ResNet10", {"stem": "cifar", "dimension": 3}))
    run = run.override(["epochs=2", "watch=map@r", 'validate=["retrieval"]'])
    sets, asked, validation = Mock(train=items, validation=items, unseen=items), [], module.validation

    def counted(*given, **settings):
        validate = validation(*given, **settings)
        return lambda space: asked.append(1) or validate(space)

    monkeypatch.setattr(module, "validation", counted)
    place = running.Place(tmp_path, tmp_path, tmp_path, "cpu", 0.0, True)
    told = module.trained(grid.Experiment("any", 0, run, 32), run, sets, sets, place)
    assert len(asked) == 1 + run.epochs  # the start, and each epoch
    measured = {name: {row["measure"] for row in told[name]} for name in ("rows", "final")}
    assert {"EER", "minDCF at 1%", "NMI"} <= measured["rows"] - measured["final"]
    assert {"Recall@1", "MAP@R"} <= measured["final"]


def contents_of(experiments, rows):
    """A JSON for every run, all of its rows a half."""
    kinds = [{"measure": measure, "kind": kind, "value": 0.5} for measure, kind in rows]
    chosen = {"epoch": 3, "validation": {"recall@1": 0.5}, "items_per_second": 1.0}
    for experiment in experiments:
        yield {
            "variant": experiment.variant,
            "seed": experiment.seed,
            "size": experiment.size,
            "full": getattr(experiment, "full", False),
            "run": None if experiment.run is None else experiment.run.to_dict(),
            "rows": kinds,
            "final": kinds,
            "every other": kinds,
            "by class": [[experiment.seed + 3, 10], [5, 10]],
            "chosen": None if experiment.run is None else chosen,
            "epochs": [{"adversary": {"coefficient": -0.1}}],
            "seconds": {"training": 1.0, "evaluation": 1.0},
        }


def test_the_tables_of_unseen_classes_show_every_run(load):
    grid, tables, results = load("grid", "unseen"), load("tables"), load("grids.results")
    measures = ("Recall@1", "Recall@2", "Recall@4", "Recall@8", "kNN accuracy", "MAP@R")
    rows = [*((measure, "similarity") for measure in measures), ("NMI", "embedding"), ("EER", "similarity")]
    everything = results.Results(list(contents_of(grid.grid(), rows)))
    written = tables.tables(everything)
    assert "Not run yet" not in written
    table = written.partition("### Three losses")[2].partition("###")[0]
    assert table.count("| 50.00 ± 0.00 |") >= 12
    assert "| proxy-nca | soft-adv |" in table
    pairs = written.partition("### Are these two the same?")[2].partition("###")[0]
    for variant in grid.VARIANTS:
        assert f"\n| {variant} | 50.00" in pairs, variant
    assert "58.10" in table
    assert len(tables.summary(everything).splitlines()) == 2 + len(everything.variants())
    assert tables.tables(results.Results([])) == "No run is done yet."


@pytest.mark.parametrize("folder", ["unseen", "birds"])
def test_before_any_training_the_tables_have_what_there_is(load, folder):
    """The networks that are not trained need no GPU: they may be there first."""
    grid, tables, results = load("grid", folder), load("tables", folder), load("grids.results")
    untrained = [experiment for experiment in grid.grid() if experiment.run is None]
    rows = [("Recall@1", "similarity"), ("EER", "similarity"), ("NMI", "embedding")]
    written = tables.tables(results.Results(list(contents_of(untrained, rows))))
    assert written.startswith("Networks that are not trained, with the number of seeds of each: untrained")
    assert "Not run yet" not in written
    assert "The claims" not in written
    for experiment in untrained:
        called = getattr(tables, "CALLED", {}).get(experiment.variant, experiment.variant)
        assert f"\n| {called} | " in written


def test_the_runs_with_drawn_characters_are_the_recipes_around_a_small_network(load):
    """So that the page may call their settings the paper's."""
    drawn = load("drawn", "unseen")
    experiments = drawn.grid()
    assert len({experiment.name for experiment in experiments}) == 3 * (3 * 4 + 2)
    for experiment in experiments:
        run = experiment.run
        loss, extension, attention = (drawn.MAIN | drawn.PARTS)[experiment.variant]
        recipe = unseen((1, 20, 20), loss=loss, extension=extension)
        for name in ("terms", "penalties", "adversary", "batches", "optimiser", "epochs", "schedule", "clip"):
            assert getattr(run, name) == getattr(recipe, name), f"{experiment.name}: {name}"
        attends = extension.endswith("adv") if attention is None else attention
        assert run.space.encoder.name == ("Attended" if attends else "Conv4")
        assert run.seed == experiment.seed


def test_what_was_run_with_drawn_characters_is_on_the_page(load):
    drawn, results, on_page = load("drawn", "unseen"), load("grids.results"), load("grids.tables")
    runs = {experiment.name: experiment.run for experiment in drawn.grid()}
    stored = BENCHMARKS.parent / "results/unseen/characters"
    for path in sorted(stored.glob("*-[0-9].json")):
        assert Run.from_dict(json.loads(path.read_text(encoding="utf-8"))["run"]) == runs[path.stem]
    page = (BENCHMARKS.parent / "docs/results/unseen.md").read_text(encoding="utf-8")
    written = drawn.tables(results.results_in(stored))
    assert on_page.page_with(page, written, mark="characters") == page


def test_a_run_with_drawn_characters_says_what_its_tables_need(load, tmp_path, monkeypatch):
    drawn, running, results = load("drawn", "unseen"), load("grids.running"), load("grids.results")
    place = running.Place(Path("characters"), tmp_path, tmp_path, "cpu", float("inf"), True)
    monkeypatch.setattr(drawn, "MAIN", {"triplet-base": drawn.MAIN["triplet-base"]})
    for experiment in drawn.grid(quick=True)[:1]:
        assert drawn.carry_out(experiment, place).startswith("Recall@1 ")
    sets = drawn.sets_of(0, True)
    alphabets = [{name.partition("/")[0] for name in part.classes} for part in (sets.train, sets.unseen)]
    assert not alphabets[0] & alphabets[1]
    assert sets.train.shape == (1, 20, 20)
    written = drawn.tables(results.results_in(tmp_path))
    assert re.search(r"^\| triplet \| base \|( [\d.]+ \|){8}$", written, re.MULTILINE)
    assert "published" not in written


def test_the_gain_over_test_classes_is_that_of_the_hits(load):
    tables, results = load("tables", "unseen"), load("grids.results")
    first = made_up("a", 0, 0.0, **{"by class": [[8, 10], [6, 10], [7, 10]]})
    second = made_up("b", 0, 0.0, **{"by class": [[5, 10], [6, 10], [4, 10]]})
    written = tables.over_classes(results.Results([first, second]), "a", "b", [0])
    assert written.startswith("+20.00 (")


def test_what_a_run_left_is_kept_until_its_result_is_written(load, tmp_path, monkeypatch):
    """Killed in between, it would have to be trained again from the start."""
    grid, running, module = load("grid", "unseen"), load("grids.running"), load("carry_out")
    experiment = grid.experiment("triplet-base", 0, quick=True)
    place = running.Place(tmp_path, tmp_path, tmp_path, "cpu", float("inf"), True, tmp_path)
    folder = tmp_path / experiment.name
    rows = [{"measure": "Recall@1", "value": 0.5}]
    sets = Mock(train=[1], validation=[1], unseen=[1])
    stand_ins = {
        "birds": Mock(return_value=sets),
        "train": lambda run, items, *, folder, **_: folder.mkdir(parents=True) or Mock(),
        "validation": Mock(),
        "neighbours": Mock(return_value=[]),
        "load_checkpoint": Mock(return_value={"states": {"space": {}}}),
        "about": Mock(return_value={"rows": rows}),
        "chosen_epoch": Mock(return_value={"epoch": 1}),
        "epochs_in": Mock(return_value=[]),
    }
    for name, stand_in in stand_ins.items():
        monkeypatch.setattr(module, name, stand_in)
    write = module.write_text
    monkeypatch.setattr(module, "write_text", Mock(side_effect=OSError("no room")))
    with pytest.raises(OSError, match="no room"):
        module.carry_out(experiment, place)
    assert (folder / "all").is_dir()
    shutil.rmtree(folder)
    monkeypatch.setattr(module, "write_text", write)
    assert module.carry_out(experiment, place).startswith("Recall@1 50.0")
    assert not folder.exists()


def test_the_tables_of_birds_show_every_run(load):
    grid, tables, results = load("grid", "birds"), load("tables"), load("grids.results")
    rows = [(f"Recall@{k}", kind) for k in (1, 2, 4, 8, 16) for kind in ("similarity", "cosine", "fused")]
    rows += [(name, kind) for name in ("NMI", "NMI from true means") for kind in ("embedding", "similarity")]
    contents = list(contents_of(grid.grid(), rows))
    for content in contents:
        if content["chosen"] is not None:
            content["chosen"] = {"similarity": {"epoch": 7}, "cosine": {"epoch": 3}, "fused": {"epoch": 5}}
    written = tables.tables(results.Results(contents))
    assert "Not run yet" not in written
    assert "| ImageNet alone | cosine | 50.00 |" in written
    assert "| EER |" not in written  # which these runs lack
    assert re.search(r"\| prototypical \| learned \| 50.00 .* \| 7, 7, 7 \|\n", written)
    assert re.search(r"\| prototypical \| cosine \| 50.00 .* \| 3, 3, 3 \|\n", written)
    # The paper does not say by which score: its figures are in no row of ours.
    published = [line for line in written.splitlines() if "60.1" in line]
    assert published == [
        "| prototypical | published, score not named | 60.1 | 72.9 | 82.9 | 89.3 | 93.8 |  |"
    ]


def test_the_tables_of_the_similarity_show_every_run(load):
    grid, tables, results = load("grid", "similarity"), load("tables"), load("grids.results")
    kinds = ("similarity", "cosine", "fused", "auxiliary")
    rows = [
        (name, kind)
        for name in (
            "EER",
            "AUC",
            "Recall@1",
            "MAP@R",
            "minDCF at 1%",
            "accuracy",
            "macro F1",
            "ECE, uncalibrated",
        )
        for kind in kinds
    ]
    breach = {"mean": 0.1, "median": 0.1, "most": 0.1, "cases": 10}
    contents = []
    for content in contents_of([like_birds(experiment) for experiment in grid.grid()], rows):
        content["axioms"] = dict.fromkeys(("self_distance", "asymmetry", "triangle"), breach)
        content["items"] = {"train": 49_000}
        content["chosen"] = {"epoch": 3, "validation": {"eer best": 0.1, "eer fused": 0.1, "eer cosine": 0.2}}
        content.pop("epochs")
        contents.append(content)
    written = tables.tables(results.Results(contents))
    assert "Not run yet" not in written
    assert "| verification | learned | 50.00 ± 0.00 | 3.43 |" in written
    assert "| **Primary.** The learned score tells pairs better" in written
    assert written.count("| The same at strict thresholds. | minDCF at 1%") == 2
    shown = written.partition("### Each run as a command")[0]
    for variant in grid.VARIANTS.keys() - {"verification-depth-1"}:
        assert f"\n| {tables._called(variant)} | " in shown, variant
    assert "\n| 1 | 1 | 50.00 | " in shown  # the depth of one
    assert re.search(r"^\| verification, fused \| 0.01 \| test \| ", shown, re.MULTILINE)


def test_what_the_choice_on_test_images_is_worth_is_said_of_older_runs(load):
    tables, results = load("tables", "similarity"), load("grids.results")
    errors = [(0.30, 0.20), (0.25, 0.10), (0.20, 0.15)]  # of test and of validation items, epoch by epoch
    content = {"run": {"watch": "eer best"}, "rows": []}
    content["epochs"] = [
        {"epoch": epoch, "validation": {"eer best": test, "validation eer best": fair}}
        for epoch, (test, fair) in enumerate(errors, start=1)
    ]
    runs = results.Results([{**content, "variant": "verification-selected-on-test", "seed": 0}])
    written = tables.selection_sentence(runs)
    assert "validation chooses epoch 2 and the test images choose epoch 3" in written
    assert "is 25.00 and 20.00." in written
    assert tables.selection_sentence(results.Results([])) == ""


def like_birds(experiment):
    """A run of the first grid with the names that the others have."""
    return Mock(variant=experiment.variant, seed=experiment.run.seed, run=experiment.run, size=32)


def test_a_run_chosen_on_test_items_is_measured_on_validation_items_too(load, tmp_path):
    grid, module, running = load("grid", "similarity"), load("carry_out"), load("grids.running")
    run = grid.experiment("verification-selected-on-test", 0, quick=True)
    sets = prepare(pictures(240), SplitSettings(by="part", fractions=grid.FRACTIONS))
    both = module.fit_on_both(run, sets, folder=tmp_path / "both", device="cpu")
    alone = fit(run, sets, folder=tmp_path / "alone", device="cpu")
    assert both.decisions == alone.decisions
    assert all(torch.equal(both.state_dict()[name], tensor) for name, tensor in alone.state_dict().items())
    for one, other in zip(*(running.epochs_in(tmp_path / name) for name in ("both", "alone")), strict=True):
        assert other["validation"].items() <= one["validation"].items()
        assert one["best"] == other["best"]
        assert {"validation eer best", "validation eer cosine"} <= one["validation"].keys()


# --- the runs as commands -------------------------------------------------------------------------


def pictures(count):
    """Items as CIFAR-10 comes, a sixth of them for the test."""
    draw = torch.Generator().manual_seed(0)
    inputs = torch.randint(256, (count, 3, 32, 32), dtype=torch.uint8, generator=draw)
    parts = tuple("test" if place % 6 == 0 else "train" for place in range(count))
    classes = tuple("abcde")
    return Items(inputs, torch.arange(count) % len(classes), classes, "pictures", parts=parts)


class Begun(Exception):  # noqa: N818 (no error)
    """A training that was to begin, with its run and its sets."""


def begins(*words, monkeypatch):
    """The run and the sets that a command line would train with."""

    def begin(run, sets, **_):
        raise Begun(run, sets)

    monkeypatch.setattr("samekind.recipes.fit", begin)
    monkeypatch.setattr("samekind.training.estimate.seconds_of_training", lambda *_, **__: 0.0)
    told = CliRunner().invoke(app, words)
    assert isinstance(told.exception, Begun), told.output
    return told.exception.args


def commands_in(written):
    """Name and words of each row of a table of commands."""
    rows = re.findall(r"^\| ([\w-]+) \| `samekind (train .*)` \|$", written, re.MULTILINE)
    return {name: shlex.split(words) for name, words in rows}


def test_every_row_about_pictures_is_a_command(load, tmp_path, monkeypatch):
    grid, module = load("grid", "similarity"), load("carry_out")
    commands = commands_in(load("tables").tables(load("grids.results").Results([])))
    assert commands.keys() == grid.VARIANTS.keys()
    items = pictures(240)
    np.savez(tmp_path / "cifar10.npz", inputs=items.inputs, labels=items.labels, parts=np.array(items.parts))
    monkeypatch.chdir(BENCHMARKS.parent)
    opened = module.images(tmp_path, quick=False)
    expected = prepare(opened, SplitSettings(by="part", fractions=grid.FRACTIONS, seed=1))
    for name, words in commands.items():
        out = ["--out", str(tmp_path / "run"), "--seed", "1", "--data", str(tmp_path / "cifar10.npz")]
        run, sets = begins(*words, *out, monkeypatch=monkeypatch)
        assert run == grid.experiment(name, 1), name
        for part in ("train", "validation", "test"):
            assert torch.equal(getattr(sets, part).inputs, getattr(expected, part).inputs)


def test_every_row_about_birds_is_a_command(load, tmp_path, monkeypatch):
    grid = load("grid", "birds")
    commands = commands_in(load("tables").tables(load("grids.results").Results([])))
    assert commands.keys() == grid.VARIANTS.keys()
    an_archive(tmp_path / "cub200.zip", classes=44, items=2, side=8)
    monkeypatch.chdir(BENCHMARKS.parent)
    for name, words in commands.items():
        out = ["--out", str(tmp_path / "run"), "--seed", "1", "--data", str(tmp_path / "cub200.zip")]
        run, sets = begins(*words, *out, monkeypatch=monkeypatch)
        assert run == grid.experiment(name, 1).run, name
        assert sets.train.inputs.shape == (4, 3, 256, 256)


@pytest.mark.parametrize("folder", ["similarity", "birds", "characters", "unseen"])
def test_what_was_run_is_what_the_grid_has(load, folder):
    """Runs with older settings are apart, and can still be read."""
    runs = {experiment.name: experiment.run for experiment in load("grid", folder).grid()}
    results = BENCHMARKS.parent / "results" / folder
    for path in results.glob("*-[0-9].json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        run = None if content["run"] is None else Run.from_dict(content["run"])
        assert run == runs[path.stem], path.name
    older = sorted((results / "older").glob("*-[0-9].json"))
    assert older
    for path in older:
        content = json.loads(path.read_text(encoding="utf-8"))
        assert content["run"] is None or Run.from_dict(content["run"]) != runs.get(path.stem)


PAGES = {"similarity": ("similarity", "tables"), "birds": ("similarity", "birds")}
PAGES |= {"characters": ("similarity", "characters"), "unseen": ("unseen", "tables")}


@pytest.mark.parametrize("folder", PAGES)
def test_the_page_has_the_tables_of_what_was_run(load, folder):
    tables, results, on_page = load("tables", folder), load("grids.results"), load("grids.tables")
    name, mark = PAGES[folder]
    path = BENCHMARKS.parent / f"docs/results/{name}.md"
    stored = BENCHMARKS.parent / "results" / folder
    for written, between in (
        (tables.tables(results.results_in(stored)), mark),
        (tables.older_tables(results.results_in(stored / "older")), f"older {mark}"),
    ):
        page = on_page.page_of(path, between).read_text(encoding="utf-8")
        assert on_page.page_with(page, written, mark=between) == page


def test_the_table_at_the_top_of_the_page_is_that_of_what_was_run(load):
    takeaway, on_page = load("takeaway", "similarity"), load("grids.tables")
    page = (BENCHMARKS.parent / "docs/results/similarity.md").read_text(encoding="utf-8")
    written = takeaway.table(BENCHMARKS.parent / "results")
    assert on_page.page_with(page, takeaway.top(BENCHMARKS.parent / "results"), mark="takeaway") == page
    assert {row.similarity for row in takeaway.ROWS} == {
        line.split(" | ")[0].removeprefix("| ") for line in written.splitlines()[2:]
    }


def test_the_table_at_the_top_has_older_runs_until_there_are_two_seeds_of_todays(load, tmp_path):
    takeaway = load("takeaway", "similarity")
    rows = (takeaway.Row("a", "cars", "any", "a"), takeaway.Row("a", "the same", "any", "a", other="AS-norm"))
    takeaway.ROWS = rows

    def stored(folder, seed, learned):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        kinds = {"similarity": learned, "cosine": 0.4}
        found = [{"measure": "EER", "kind": kind, "value": value} for kind, value in kinds.items()]
        content = {"variant": "a", "seed": seed, "run": {}, "rows": found}
        (tmp_path / folder / f"a-{seed}.json").write_text(json.dumps(content))

    for seed in (0, 1):
        stored("any/older", seed, 0.3)
    stored("any", 0, 0.2)
    (row,) = takeaway.table(tmp_path).splitlines()[2:]  # the second was not measured
    assert row.startswith("| a | cars (older settings) | 2 | not measured | 30.0, 40.0: ")
    assert takeaway.top(tmp_path).endswith(f"\n\n{takeaway.WAITING}")
    stored("any", 1, 0.2)
    (row,) = takeaway.table(tmp_path).splitlines()[2:]
    assert row.startswith("| a | cars | 2 | not measured | 20.0, 40.0: ")
    assert takeaway.top(tmp_path) == takeaway.table(tmp_path)


def test_every_learned_score_at_the_top_stands_beside_a_normalised_cosine_too(load):
    takeaway = load("takeaway", "similarity")
    plain = [row for row in takeaway.ROWS if row.other not in ("normalised", "AS-norm cosine")]
    beside = {(row.folder, row.variant, row.kind, row.rung) for row in takeaway.ROWS if row not in plain}
    assert beside == {(row.folder, row.variant, row.kind, row.rung) for row in plain}
    assert len(takeaway.ROWS) == 2 * len(plain)


def test_the_table_at_the_top_of_the_page_of_unseen_classes_is_that_of_what_was_run(load, tmp_path):
    takeaway, grid, on_page = load("takeaway", "unseen"), load("grid"), load("grids.tables")
    stored = BENCHMARKS.parent / "results/unseen"
    page = (BENCHMARKS.parent / "docs/results/unseen.md").read_text(encoding="utf-8")
    assert on_page.page_with(page, takeaway.top(stored), mark="takeaway") == page

    def runs(folder, gain, seeds=(0, 1)):
        (tmp_path / folder).mkdir(exist_ok=True)
        for loss, extension, seed in itertools.product(grid.LOSSES, takeaway.SHOWN, seeds):
            value = 0.4 + 0.01 * seed + (gain if extension == "adapt-adv" else 0.0)
            variant = grid.called(loss, extension)
            content = made_up(variant, seed, value, run={})
            (tmp_path / folder / f"{variant}-{seed}.json").write_text(json.dumps(content))

    runs("older", 0.1)
    written = takeaway.top(tmp_path)
    assert "| +10.0 (+10.0 to +10.0) |  | +4.3 | +4.9 |" in written
    assert written.startswith("**They do.** Birds, **older settings**, 2 seeds: with attention and")
    assert takeaway.WAITING in written
    runs(".", -0.2)
    written = takeaway.top(tmp_path)
    assert "| triplet | 40.5 | 40.5 | 20.5 | 45.4 | 51.5 | 53.7 |" in written
    assert written.startswith("**They do not.** Birds, the paper's settings, 2 seeds: with attention and")
    assert "changes by -20.00 (-20.00 to -20.00) points" in written
    assert takeaway.WAITING not in written
    (tmp_path / "angular-base-1.json").rename(tmp_path / "angular-base-2.json")  # a seed that no other has
    content = json.loads((tmp_path / "angular-base-2.json").read_text())
    (tmp_path / "angular-base-2.json").write_text(json.dumps({**content, "seed": 2}))
    assert "| triplet | 40.5 | 40.5 | 50.5 | " in takeaway.top(tmp_path)
    runs(".", 0.1, seeds=(1,))
    assert "| triplet | 40.5 | 40.5 | " in takeaway.top(tmp_path)
    assert ", 2 seeds: " in takeaway.top(tmp_path)  # the third of one run is not counted


def test_only_what_is_sure_after_holm_is_bold_in_the_table_at_the_top(load, tmp_path):
    """Two rows of a score that is a point better, in one of them always and in the other at random."""
    takeaway = load("takeaway", "similarity")
    rows = (takeaway.Row("sure", "a", "any", "sure"), takeaway.Row("unsure", "b", "any", "unsure"))
    (tmp_path / "any").mkdir()
    for variant, gains in (("sure", (1.0, 1.001, 0.999)), ("unsure", (0.1, 2.4, 0.5))):
        for seed, gain in enumerate(gains):
            values = {"similarity": 50 + gain, "cosine": 50.0}
            stored = [
                {"measure": "EER", "kind": kind, "value": value / 100} for kind, value in values.items()
            ]
            content = {"variant": variant, "seed": seed, "run": {}, "rows": stored}
            (tmp_path / "any" / f"{variant}-{seed}.json").write_text(json.dumps(content))
    takeaway.ROWS = rows
    sure, unsure = takeaway.table(tmp_path).splitlines()[2:]
    assert sure == "| sure | a | 3 | not measured | 51.0, 50.0: **+1.0** (+1.0 to +1.0) |"
    assert unsure.startswith("| unsure | b | 3 | not measured | 51.0, 50.0: +1.0 (-2")


# --- the pictures ---------------------------------------------------------------------------------


def few_digits():
    sets = prepare(digits())
    few = {name: getattr(sets, name).take(torch.arange(60)) for name in ("train", "validation", "test")}
    return dataclasses.replace(sets, **few)


def test_pictures_of_mnist_are_of_the_test_images_it_was_published_with(load, tmp_path):
    for part, count, grey in (("train", 40, 10), ("t10k", 20, 200)):
        images, labels = np.full((count, 28, 28), grey, np.uint8), np.arange(count, dtype=np.uint8) % 4
        heading = bytes([0, 0, 8, 3]) + np.array(images.shape, ">u4").tobytes()
        (tmp_path / f"{part}-images-idx3-ubyte").write_bytes(heading + images.tobytes())
        heading = bytes([0, 0, 8, 1]) + np.array(labels.shape, ">u4").tobytes()
        (tmp_path / f"{part}-labels-idx1-ubyte").write_bytes(heading + labels.tobytes())
    sets = load("pictures", "similarity").sets_of(tmp_path)
    assert (len(sets.train), len(sets.validation), len(sets.test)) == (36, 4, 20)
    for items, grey in ((sets.train, 10), (sets.validation, 10), (sets.test, 200)):
        assert set(items.inputs.flatten().tolist()) == {grey}


def test_the_pairs_alone_place_items_in_the_plane(load):
    pictures, sets = load("pictures", "similarity"), few_digits()
    flat, full = (pictures.run_in(dimension, sets, epochs=3) for dimension in (2, 64))
    assert list(flat.terms) == ["pair"]
    assert flat.space.auxiliary is None
    assert set(full.terms) == {"pair", "auxiliary"}
    assert dataclasses.replace(full, space=flat.space, terms=flat.terms) == flat


def test_rates_and_means_of_a_map_are_those_counted_by_hand(load):
    pictures = load("pictures", "similarity")
    z = torch.tensor([[0.0, 0.0], [0.0, 1.0], [0.0, 3.0], [5.0, 0.0]])
    labels = torch.tensor([0, 0, 1, 1])
    known, known_labels = torch.tensor([[0.0, 0.0], [0.0, 2.0], [5.0, 1.0]]), torch.tensor([0, 0, 1])
    # The third is nearer to (0, 1) than to (5, 1).
    assert pictures.nearest_mean(z, labels, known, known_labels) == 0.75
    space = MetricSpace(nn.Identity(), Cosine(), SupportMeans(dimension=2))
    rates = pictures.rates(space, z, labels)
    pairs = list(itertools.combinations(range(4), 2))
    same = torch.tensor([bool(labels[i] == labels[j]) for i, j in pairs])
    apart = torch.tensor([float((z[i] - z[j]).norm()) for i, j in pairs])
    assert rates["euclidean"] == equal_error_rate(-apart, same).rate
    cosines = torch.tensor([float(nn.functional.cosine_similarity(z[i], z[j], dim=0)) for i, j in pairs])
    assert rates["cosine"] == equal_error_rate(cosines, same).rate


def test_pictures_are_drawn_of_digits_and_leave_the_page_alone(load, tmp_path, monkeypatch, capsys):
    pictures = load("pictures", "similarity")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pictures, "sets_of", lambda data: few_digits())
    monkeypatch.setattr(pictures, "EPOCHS_OF_FEW", 1)
    monkeypatch.setattr(sys, "argv", ["pictures.py"])
    pictures.main()
    work = tmp_path / "runs/pictures"
    known = json.loads((work / "pictures.json").read_text(encoding="utf-8"))
    assert known["items"] == {"train": 60, "validation": 60, "test": 60}
    assert known["pairs"] == 1770
    assert list(known["medians"]) == [str(digit) for digit in range(10)]
    assert known["2 dimensions"]["kept"] == known["2 dimensions"]["epochs"] == 1
    assert known["2 dimensions"]["seconds"]["training"] > 0
    assert sorted(path.name for path in work.glob("*.png")) == [
        "digits-metric-axioms.png",
        "digits-two-dimensions.png",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    assert "1,770 pairs" in capsys.readouterr().out


def test_axioms_are_read_as_they_were_written(load):
    pictures, results = load("pictures", "similarity"), BENCHMARKS.parent / "results/similarity"
    content = json.loads((results / "older/verification-0.json").read_text(encoding="utf-8"))["axioms"]
    assert pictures.plain(pictures.axioms_in(content)) == content
    assert list(pictures.of_the_grid(results)) == ["cifar10-metric-axioms"]
    assert pictures.of_the_grid(results / "nowhere") == {}


def test_what_is_stored_is_drawn_without_data(load, tmp_path, monkeypatch):
    pictures, results = load("pictures", "similarity"), BENCHMARKS.parent / "results/similarity"
    command = ["pictures.py", "--stored", "--results", str(results), "--out", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", command)
    pictures.main()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "cifar10-metric-axioms.png",
        "mnist-metric-axioms.png",
    ]


def test_what_the_page_says_of_the_pictures_is_what_was_measured(load):
    pictures, on_page = load("pictures", "similarity"), load("grids.tables")
    page = (BENCHMARKS.parent / "docs/results/similarity.md").read_text(encoding="utf-8")
    results = BENCHMARKS.parent / "results/similarity"
    known = json.loads((results / "pictures.json").read_text(encoding="utf-8"))
    assert on_page.page_with(page, pictures.tables(known), mark="pictures") == page
    # The eights and the nines, it says, lie nearest to the origin.
    assert set(sorted(known["medians"], key=lambda name: math.hypot(*known["medians"][name]))[:2]) == {
        "8",
        "9",
    }
    # And in the words around the tables there is no number that is not in them, rounded or not.
    section = page.partition("## Two pictures\n")[2].partition("\n## ")[0]
    words, _, rest = section.partition("<!-- pictures: begin -->")
    table, _, after = rest.partition("<!-- pictures: end -->")
    beside = (BENCHMARKS.parent / "docs/results/similarity-older.md").read_text(encoding="utf-8")
    grid = beside.partition("### Is it a metric?")[2].partition("###")[0]
    measured = {float(number.replace(",", "")) for number in NUMBER.findall(table + grid)}
    for number in NUMBER.findall(PICTURE.sub("", words + after)):
        digits_after = len(number.partition(".")[2])
        rounded = {f"{number:.{digits_after}f}" for number in measured}
        assert number.replace(",", "") in rounded | SETTINGS, number


# --- the characters -------------------------------------------------------------------------------


def test_runs_with_more_classes_are_as_long(load):
    module = load("grid", "characters")
    experiments = module.grid()
    names = [experiment.name for experiment in experiments]
    choices = len(module.CHOICES)
    assert len(set(names)) == len(names) == 3 * (len(module.CLASSES) * 3 + choices)
    for experiment in experiments:
        assert Run.from_dict(experiment.run.to_dict()) == experiment.run
        tuples = experiment.classes * module.DRAWINGS // module.OF_A_CLASS
        steps = experiment.run.epochs * -(-tuples // module.TUPLES)
        assert abs(steps - module.STEPS) <= 0.17 * module.STEPS, experiment.name


def test_characters_to_train_to_validate_and_to_test_with_are_different_ones(load, tmp_path, monkeypatch):
    module = load("carry_out", "characters")
    monkeypatch.setattr(module, "VALIDATION", 3)
    monkeypatch.setattr(module, "TEST", 4)
    arrays = {}
    for part, count in (("background", 12), ("evaluation", 6)):
        labels = np.repeat(np.arange(count), 2).astype(np.int32)
        bits = np.zeros((len(labels), 105, 14), np.uint8)
        bits[:, : 5 * 21] = labels[:, None, None]  # a pattern for each
        names = np.array([f"{part}/{label}" for label in range(count)])
        arrays |= {f"images_{part}": bits, f"images_{part}_labels": labels, f"images_{part}_names": names}
    np.savez(tmp_path / "omniglot.npz", **arrays)
    few, more = (module.characters(tmp_path / "omniglot.npz", classes=count, seed=1) for count in (4, 9))
    for sets, count in ((few, 4), (more, 9)):
        train, validation, unseen = (set(part.classes) for part in (sets.train, sets.validation, sets.unseen))
        assert (len(train), len(validation), len(unseen)) == (count, 3, 4)
        assert not train & validation
        assert all(name.startswith("background") for name in train | validation)
        assert all(name.startswith("evaluation") for name in unseen)
        assert sets.train.inputs.shape == (2 * count, 1, 20, 20)
    assert few.unseen.classes == more.unseen.classes


def test_the_table_of_characters_shows_every_run(load):
    grid, tables, results = load("grid", "characters"), load("tables"), load("grids.results")
    kinds = [(name, kind) for name in ("Recall@1", "EER") for kind in ("similarity", "cosine", "fused")]
    everything = results.Results(
        list(contents_of([like_birds(experiment) for experiment in grid.grid()], kinds))
    )
    written = tables.tables(everything)
    assert "| prototypical | 940 | 18,800 | 3 | 50.00 ± 0.00 | 50.00 ± 0.00 |" in written
    assert written.count("\n| ") == 1 + 3 * len(grid.CLASSES) + len(grid.CHOICES)
    assert tables.tables(results.Results([])) == "No run is done yet."


# --- trees ----------------------------------------------------------------------------------------


def test_measures_of_runs_with_a_tree_are_correlated_by_their_ranks(load):
    tables, grid = load("tables", "trees"), load("grid")
    results_of = load("grids.results").Results
    contents = []
    for place, system in enumerate(grid.PAPER):
        # As the accuracy rises, so do the mean correlations; distances fall. Softmax is apart from all.
        value = -9.0 if system == "softmax" else math.exp(place / 5)
        measures = {name: -value if name.startswith("AHD") else value for name in tables.MEASURES}
        measures |= {"HS@50": 0.5, "MC prototypes, living": -value}
        contents.append({"variant": f"plankton-{system}", "seed": 0, "measures": measures})
    written = tables._together(results_of(contents), "plankton")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in written.split("\n")[2:]]
    cells = {name: values for name, *values in rows}
    assert written.startswith("13 runs")
    assert [cells["measure"][0], cells["measure"][-1]] == ["with top-1", "with MC prototypes, living"]
    assert cells["AHD@5"] == ["**-1.00** (0e+00)"] * 4 + ["**1.00** (0e+00)"]
    assert cells["top-1"][:2] == ["", "**1.00** (0e+00)"]
    assert set(cells["HS@50"]) == {""}
    assert tables._together(results_of(contents[:4]), "plankton") == "Not run yet."
    of_proxies, of_first, of_five = tables._beside_the_paper(results_of(contents))[2:]
    assert "| AHD@5 | -1.00 |  | -0.74 |" in of_proxies
    assert "| AHD@1 | -1.00 |  |  | -0.83 | -0.93 |  | -0.95 |" in of_first  # two cells cannot be read
    assert "| MC prototypes | 1.00 |  | -0.10 | -0.48 | -0.29 | -0.55 | -0.37 |" in of_five


def test_mean_pictures_and_their_directions_stand_beside_the_paper(load):
    """Its table 2 has the pixels twice: as they are, and brought to length 1."""
    tables, results_of = load("tables", "trees"), load("grids.results").Results
    measures = {"MC mean pictures": 0.4, "MC prototypes": 0.3}
    contents = [{"variant": "birds-input", "seed": 0, "measures": measures}]
    written = tables._beside_the_paper(results_of(contents))[1]
    assert "| input, prototypes |  | 0.400 |  |  |  | 0.174 ± 0.006 | 0.341 ± 0.035 |" in written
    assert "| input, normalised, prototypes |  | 0.300 |  |  |  | 0.237 ± 0.004 | 0.261 ± 0.042 |" in written


def test_every_system_that_was_run_is_in_the_tables(load):
    tables, grid = load("tables", "trees"), load("grid")
    runs = [run for run in grid.grid() if run.data == "plankton"]
    contents = [{"variant": run.variant, "seed": run.seed, "measures": {}} for run in runs]
    shown = tables._systems(load("grids.results").Results(contents), "plankton")
    assert sorted(shown) == sorted({run.system for run in runs})


def test_a_difference_over_seeds_is_sure_where_its_interval_leaves_out_0(load):
    tables = load("tables", "trees")
    assert tables._difference([0.02, 0.03, 0.04], higher=True) == ("+0.030 ± 0.025", "better")
    assert tables._difference([0.02, 0.03, 0.04], higher=False) == ("+0.030 ± 0.025", "worse")
    assert tables._difference([0.02, -0.03, 0.04], higher=True)[1] == "unsure"
    assert tables._difference([0.02], higher=True) == ("+0.020", "one seed")


# --- few-shot tasks -------------------------------------------------------------------------------


def by_tasks(experiment, *, level):
    """What a run by tasks writes down: its curve rises to a level and stays there."""
    curve = [min(level, 0.2 + 0.01 * place) for place in range(60)]
    names = ("norm_ratio", "con_alpha", "div_alpha", "con_div")
    measure = {"mean": level, "half": 0.01, "tasks": 600}
    shots = f"5-way {experiment.shot}-shot"
    return {
        "variant": experiment.variant,
        "seed": experiment.seed,
        "episodes": 6000,
        "test": {shots: measure, f"{shots}, cosine": measure},
        "untrained": {shots: {"mean": 0.2, "half": 0.01, "tasks": 600}},
        "checkpoints": {"validation": curve}
        | {name: [level + 0.001 * k for k in range(60)] for name in names},
    }


def test_the_tables_of_tasks_say_who_learns_faster(load):
    grid, tables = load("grid", "few_shot_study"), load("tables")
    runs = [run for run in grid.grid() if run.system in ("conv4-proto-softmax", "conv4-proto-dr")]
    contents = [by_tasks(run, level=0.5 if "dr" in run.system else 0.4) for run in runs]
    results = load("grids.results").Results
    written = tables.tables(results([one for one in contents if one["variant"].startswith("birds-conv4")]))
    cells = "20.00 ± 0.00 | 40.00 ± 0.00 | 50.00 ± 0.00 | 10.00 ± 0.00 | 50.46 ± 0.88 | 57.13 ± 0.95"
    assert f"| Conv4 | 5-way 1-shot | 6,000 | 3 | {cells} |" in written
    assert "| Conv4 | 1 | DR - softmax | 0.0 ± 0.0 | 0.0 ± 0.0 | 10.0 ± 0.0 |" in written
    # The mean of ten checkpoints has the level nine after the first that has it.
    assert "| Conv4 | 5 | 0 | 40.0 | 3,000 | 2,600 |" in written
    assert "| birds | 5-way 1-shot | conv4-proto-dr | 6,000 | 3 | 50.00 ± 1.00 | 50.00 ± 1.00 |" in written
    assert written.count("<details>") == written.count("</details>") == 2
    assert re.findall("(?m)^### (.*)", written) == [
        "Birds, full length",
        "Other heads on the same embeddings",
    ]
    # Of characters there is no paper, and the episodes of a checkpoint are those of the data.
    written = tables.tables(results([one for one in contents if one["variant"].startswith("omniglot-short")]))
    assert "paper" not in written
    assert "| Conv4 | 1 | 0 | 40.0 | 700 | 625 |" in written
    short = [f"conv4-proto-{name}-{shot}shot" for shot in (1, 5) for name in ("softmax", "dr")]
    assert f"; on birds-short {', '.join(short)}, conv4-nearest-softmax-5shot" in written
    assert f"; on omniglot-long {', '.join(short)}" in written
    nothing = tables.tables(results([]))
    assert nothing.startswith(
        "Not run yet: on birds conv4-proto-softmax-1shot, conv4-proto-dr-1shot, house, "
    )
    assert "|" not in nothing


def test_the_page_about_tasks_has_the_tables_of_what_was_run(load):
    grid, tables = load("grid", "few_shot_study"), load("tables")
    results, on_page = load("grids.results"), load("grids.tables")
    stored = BENCHMARKS.parent / "results/few-shot"
    names = {run.name: run for run in grid.grid()}
    for path in stored.glob("*-[0-9].json"):
        run = json.loads(path.read_text(encoding="utf-8"))["run"]
        experiment = names[path.stem]
        if experiment.shot:
            assert run["epochs"] * run["batches"]["steps"] == experiment.episodes(False), path.name
            assert run["batches"]["way"] == experiment.setting(False).way, path.name
    page = (BENCHMARKS.parent / "docs/results/few-shot.md").read_text(encoding="utf-8")
    assert on_page.page_with(page, tables.tables(results.results_in(stored)), mark="tables") == page


def test_half_of_a_comparison_is_shown_as_far_as_it_was_run(load):
    """Where a machine is gone before the other half is done."""
    grid, tables = load("grid", "few_shot_study"), load("tables")
    runs = [run for run in grid.grid() if run.variant == "birds-conv4-proto-softmax-1shot"]
    written = tables.tables(load("grids.results").Results([by_tasks(run, level=0.4) for run in runs[:1]]))
    assert (
        "| Conv4 | 5-way 1-shot | 6,000 | 0 | 20.00 | 40.00 |  |  | 50.46 ± 0.88 | 57.13 ± 0.95 |" in written
    )


def test_every_run_by_tasks_is_one(load, monkeypatch):
    grid, systems = load("grid", "few_shot_study"), load("systems")
    place = load("grids.running").Place(Path(), Path(), Path(), "cpu", 0.0, False)
    pictures = Items(
        torch.zeros(60, 3, 96, 96, dtype=torch.uint8), torch.arange(60) // 30, ("a", "b"), "birds"
    )
    names = [run.name for run in grid.grid()]
    assert len(set(names)) == len(names)
    for experiment in grid.grid(seeds=1):
        run = systems.run_of(experiment, pictures, place)
        assert run.seed == experiment.seed
        if experiment.shot:
            assert run.epochs * run.batches.arguments["steps"] == experiment.episodes(False)
            assert run.batches.arguments["shot"] == experiment.shot
            assert not run.compile
            on_gpu = systems.run_of(experiment, pictures, place._replace(device="cuda"))
            assert on_gpu.compile == (not experiment.exact)


def test_a_stopped_training_by_tasks_goes_on_to_the_same_numbers(load, tmp_path, monkeypatch):
    load("grid", "few_shot_study")
    teaching = load("teaching")
    monkeypatch.setattr(teaching, "STORED_EVERY", 1)
    items = clusters(classes=5, items=8, dimension=6, seed=1)
    run = few_shot(items, queries=3).override(["epochs=4", "batches.steps=3", "ahead=2"])

    def trained(store, deadline=math.inf, stops=()):
        accuracies = [0.3, 0.6, 0.5, 0.4]

        def validate(learner, checkpoint):
            if checkpoint in stops:
                raise KeyboardInterrupt
            assert not learner.space.training
            return accuracies[checkpoint]

        fabric = launch("cpu", run.precision)
        return teaching.taught(run, items, fabric, validate, store=tmp_path / store, deadline=deadline)

    space, whole = trained("whole.pt")
    with pytest.raises(KeyboardInterrupt):
        trained("parts.pt", stops=(2,))
    with pytest.raises(teaching.Stopped, match="after 2 of 4 checkpoints"):
        trained("parts.pt", deadline=0)
    other, parts = trained("parts.pt")
    assert (whole.best, whole.curves) == (parts.best, parts.curves) == (1, whole.curves)
    tensors = zip(space.state_dict().values(), other.state_dict().values(), strict=True)
    assert all(torch.equal(one, two) for one, two in tensors)


@pytest.mark.parametrize("by", ["proto", "nearest"])
def test_the_study_measures_steps_by_what_stands_for_a_class(load, tmp_path, monkeypatch, by):
    load("grid", "few_shot_study")
    teaching, taken = load("teaching"), []

    def measured(*given, nearest):
        taken.append(nearest)
        return step_dynamics(*given, nearest=nearest)

    monkeypatch.setattr(teaching, "step_dynamics", measured)
    items = clusters(classes=5, items=8, dimension=6, seed=1)
    run = few_shot(items, by=by, shot=2, queries=3).override(["epochs=2", "batches.steps=3", "ahead=2"])
    fabric = launch("cpu", run.precision)
    teaching.taught(run, items, fabric, lambda *_: 0.5, store=tmp_path / "whole.pt", deadline=math.inf)
    assert taken == [by == "nearest"] * 2


@pytest.mark.parametrize("system", ["conv4-proto-dr", "conv4-nearest-softmax", "conv4-matching"])
def test_a_run_by_tasks_leaves_its_json_and_its_row(load, tmp_path, monkeypatch, system):
    """On made-up pictures: it starts, is validated and tested, and the tables can be made of it."""
    grid, carry_out = load("grid", "few_shot_study"), load("carry_out")
    sets, tables = load("sets"), load("tables")
    draw = torch.Generator().manual_seed(0)
    pixels = torch.randint(256, (160, 3, 49, 49), dtype=torch.uint8, generator=draw)
    items = Items(pixels, torch.arange(160) // 20, tuple("abcdefgh"), "made up")
    small = dataclasses.replace(items, inputs=pixels[..., :32, :32])
    monkeypatch.setattr(carry_out, "parts_of", lambda *_: sets.Parts(items, small, small))
    place = load("grids.running").Place(tmp_path, tmp_path, tmp_path, "cpu", math.inf, True)
    experiment = grid.Experiment("birds", system, 5, 0)
    stored = tmp_path / f"{experiment.name}.pt"
    stored.write_text("of a training that is not a trial")
    carry_out.carry_out(experiment, place)
    results = load("grids.results").results_in(tmp_path)
    content = results.contents[experiment.variant, 0]
    assert content["episodes"] == 20
    assert len(content["checkpoints"]["validation"]) == 2
    assert {"norm_ratio", "con_alpha", "div_alpha", "con_div"} <= content["checkpoints"].keys()
    assert 0 <= content["test"]["5-way 5-shot"]["mean"] <= 1
    assert f"| birds | 5-way 5-shot | {system} | 20 | 1 | " in tables.tables(results)
    assert stored.exists()


def test_items_are_embedded_in_parts_of_one_size(load, monkeypatch):
    load("grid", "few_shot_study")
    carry_out = load("carry_out")
    monkeypatch.setattr(carry_out, "AT_ONCE_ON_CPU", 4)
    items, shapes = clusters(classes=3, items=3, dimension=6, seed=1), []
    space = build_space(few_shot(items, queries=2), items).eval()
    expected = space.embed(items.inputs)
    space.encoder.register_forward_pre_hook(lambda _, inputs: shapes.append(tuple(inputs[0].shape)))
    z = carry_out.embedded(space, items.inputs, launch("cpu", "32-true"))
    assert shapes == [(4, 6)] * 3
    torch.testing.assert_close(z, expected.detach())


def test_tasks_within_an_alphabet_show_two_people(load):
    load("grid", "few_shot_study")
    carry_out = load("carry_out")
    names = [
        f"Alphabet{place // 22}/character{place % 22:02}, {turn}" for turn in (0, 90) for place in range(44)
    ]
    labels = torch.arange(88).repeat_interleave(20)
    items = Items(torch.zeros(len(labels), 1), labels, tuple(names), "drawings")
    tasks = carry_out.within_alphabets(items, tasks=4, seed=0)
    assert tasks.support.shape == tasks.query.shape == (4, 20, 1)
    for classes, support, query in zip(*tasks, strict=True):
        assert classes.max() < 44
        assert len((classes // 22).unique()) == 1
        people = (support % 20).unique(), (query % 20).unique()
        assert len(people[0]) == len(people[1]) == 1
        assert people[0] != people[1]


# --- the birds ------------------------------------------------------------------------------------


def an_archive(path, *, classes, items, side):
    """Pictures of one colour each, with a black frame that the cut to the middle takes off."""
    from PIL import Image

    with zipfile.ZipFile(path, "w") as archive:
        for label in range(classes):
            for item in range(items):
                pixels = np.zeros((side, side, 3), np.uint8)
                pixels[2:-2, 2:-2] = (10 * label % 256, 20 * item, 100)
                stream = BytesIO()
                Image.fromarray(pixels).save(stream, "png")
                archive.writestr(f"birds/{label:03}.bird/{item}.png", stream.getvalue())


def test_birds_are_decoded_once_and_whole_families_choose_the_epoch(load, tmp_path, monkeypatch):
    birds, running = load("grids.birds"), load("grids.running")
    monkeypatch.setattr(birds.os, "cpu_count", lambda: 1)
    an_archive(tmp_path / "cub200.zip", classes=32, items=2, side=16)
    families = [f"{label:03}.bird,birds/order/family {label // 2}/genus/{label:03}" for label in range(32)]
    (tmp_path / "cub200_taxonomy.csv").write_text("\n".join(["class,path", *families]))
    place = running.Place(tmp_path, tmp_path, tmp_path, "cpu", 0.0, False, tmp_path / "cache")
    experiment = load("grid", "birds").experiment("untrained", 0)._replace(size=16)
    birds.make_ready([experiment], place)
    held_out = []
    for seed in range(3):
        sets = birds.birds(place, size=16, seed=seed)
        assert sets.unseen.classes == tuple(f"{label:03}.bird" for label in range(16, 32))
        numbers = [int(name[:3]) for name in sets.validation.classes]
        assert all(number ^ 1 in numbers for number in numbers)  # with its whole family
        assert len(sets.train.classes) + len(numbers) == 16
        held_out.append(set(numbers))
        full = birds.birds(place, size=16, seed=seed, full=True)
        assert full.train.classes == tuple(f"{label:03}.bird" for label in range(16))
        assert full.validation.classes == sets.validation.classes
    assert not held_out[0] & held_out[1]
    assert sets.train.inputs.dtype == torch.uint8
    # What is decoded is not decoded again.
    (tmp_path / "cub200.zip").unlink()
    birds.make_ready([experiment], place)
    (tmp_path / "cub200_taxonomy.csv").unlink()
    with pytest.raises(SystemExit, match=r"expected cub200_taxonomy\.csv beside the pictures"):
        birds.birds(place, size=16, seed=0)


# --- a small folder -----------------------------------------------------------------------------------


def test_a_small_folder_is_cut_from_an_archive(load, tmp_path):
    few_pictures = load("few_pictures")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for label, number in itertools.product(range(50), range(31)):
            archive.writestr(f"all/{label}/{number}.jpg", f"{label}/{number}")
    avoid = frozenset(("0", "1"))
    unseen = few_pictures.cut(tmp_path / "all.zip", tmp_path / "folder", seed=3, avoid=avoid)
    classes = {place.name: len(list(place.iterdir())) for place in (tmp_path / "folder").iterdir()}
    assert set(classes.values()) == {30}
    assert len(classes) == 40
    assert len(unseen) == 10
    assert set(unseen) < set(classes)
    assert not avoid & set(classes)
    assert few_pictures.cut(tmp_path / "all.zip", tmp_path / "again", seed=3, avoid=avoid) == unseen

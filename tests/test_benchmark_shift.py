"""The study of domains: PACS in its folder form on a made stand-in, characters, the table and its page."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from samekind.data import Items
from samekind.inference import all_trials, embed
from samekind.measures import equal_error_rate
from samekind.training import build_space

ROOT = Path(__file__).parents[1]
STUDY = "shift"


@pytest.fixture
def pacs(tmp_path):
    """Three styles of three shapes, six pictures each, in domain/class/picture."""
    generator = np.random.default_rng(0)
    for style, colour in {"photo": (200, 90, 40), "sketch": (0, 0, 0), "cartoon": (30, 60, 220)}.items():
        for shape, (height, width) in {"bar": (4, 20), "pole": (20, 4), "block": (12, 12)}.items():
            folder = tmp_path / "pacs" / style / shape
            folder.mkdir(parents=True)
            for number in range(6):
                picture = np.full((24, 24, 3), 255, dtype=np.uint8)
                top, left = generator.integers(0, 24 - height), generator.integers(0, 24 - width)
                picture[top : top + height, left : left + width] = colour
                Image.fromarray(picture).save(folder / f"{number}.png")
    return tmp_path


def test_pacs_is_read_by_its_folders_and_left_out_style_by_style(load, pacs, monkeypatch):
    grid, sets, carry_out = load("grid"), load("sets"), load("carry_out")
    monkeypatch.setattr(sets, "SIDE", 16)
    small = ["space.encoder={name='SmallConvnet', dimension=8}", "channels_last=false", "batches.size=4"]
    plain = grid.run_of
    monkeypatch.setattr(carry_out, "run_of", lambda *given: plain(*given).override(small))
    place = load("grids.running").Place(pacs, pacs / "out", pacs / "work", "cpu", float("inf"), True)
    experiment = grid.Experiment("pacs", "prototypical", 0)
    items = sets.items_of(experiment, pacs)
    assert sorted(items.domain_names) == ["cartoon", "photo", "sketch"]
    assert items.classes == ("bar", "block", "pole")
    assert carry_out.carry_out(experiment, place).endswith(" s")
    content = json.loads(place.result_of(experiment).read_text(encoding="utf-8"))
    assert sorted(one["left out"] for one in content["sets"]) == ["cartoon", "photo", "sketch"]
    written = load("tables").tables(load("grids.results").results_in(place.out))
    assert "| prototypical | similarity |" in written
    assert "another domain" in written


@pytest.fixture
def plankton(tmp_path):
    """Two classes with pictures of every size and one of small ones alone, as files in an archive."""
    generator = np.random.default_rng(0)
    with zipfile.ZipFile(tmp_path / "plankton.zip", "w") as archive:
        for name, sides in {"ring": range(8, 40), "rod": range(8, 40), "dust": range(8, 16)}.items():
            for side in sides:
                file = io.BytesIO()
                picture = generator.integers(0, 255, (side, side + 2), dtype=np.uint8)
                Image.fromarray(picture).save(file, format="PNG")
                archive.writestr(f"plankton/{name}/{side}.png", file.getvalue())
    return tmp_path


def test_the_cut_of_plankton_has_each_class_in_every_size(load, plankton, monkeypatch):
    grid, sets = load("grid"), load("sets")
    monkeypatch.setattr(sets.in_every_domain, "__defaults__", (5, 6))
    items = sets.items_of(grid.Experiment("plankton-cut", "dense", 0), plankton)
    assert (items.classes, items.shape) == (("ring", "rod"), (1, 32, 32))
    cells = [[int(((items.labels == c) & (items.domains == d)).sum()) for d in range(4)] for c in range(2)]
    assert cells == [[6] * 4] * 2
    areas = torch.tensor([int(name.split("/")[-1].split(".")[0]) for name in items.ids])
    for size in range(3):
        assert areas[items.domains == size].max() <= areas[items.domains == size + 1].min()


def test_of_many_items_of_a_class_in_a_domain_some_are_kept_evenly(load):
    sets = load("sets")
    labels, domains = torch.tensor([0] * 9 + [1] * 4), torch.tensor([0] * 5 + [1] * 4 + [0] * 3 + [1])
    items = Items(
        torch.arange(13.0)[:, None], labels, ("a", "b"), "made", domains=domains, domain_names=("x", "y")
    )
    assert sets.in_every_domain(items, 1, 3).inputs.flatten().tolist() == [0, 2, 4, 5, 6, 8, 9, 10, 11, 12]
    assert sets.in_every_domain(items, 2, 2).classes == ("a",)


def test_classifiers_of_one_set_see_equally_many_items_at_once(load):
    grid, items = load("grid"), load("sets").by_drawers("Greek")
    for data in ("characters", "plankton-cut"):
        runs = {
            system: grid.run_of(grid.Experiment(data, system, 0), items)
            for system in (*grid.SYSTEMS, grid.SHUFFLED)
        }
        at_once = [run.batches.arguments["size"] for run in runs.values()]
        assert at_once[1:] == [3 * at_once[0]] * 2
        first, *others = (
            (run.space.encoder, run.epochs, run.optimiser, run.augment) for run in runs.values()
        )
        assert others == [first] * 2


def test_corrupted_pictures_are_compared_with_clean_ones(load, tmp_path, monkeypatch):
    """Sprites as CIFAR-10 is published, two classes, 24 pictures of each in each part."""
    grid, carry_out = load("grid"), load("carry_out")
    folder = tmp_path / "cifar10"
    folder.mkdir()
    generator = np.random.default_rng(0)
    for name, part in {"data_batch_1": "train", "test_batch": "test"}.items():
        pixels = generator.integers(0, 255, (48, 1024, 3), dtype=np.uint8)
        pixels[::2] //= 4
        Image.fromarray(pixels).save(folder / f"{name}.png")
        (folder / f"{part}_lables.json").write_text(json.dumps([0, 1] * 24), encoding="utf-8")
    small = ["space.encoder={name='SmallConvnet', dimension=8}", "channels_last=false", "batches.size=4"]
    plain = grid.run_of
    monkeypatch.setattr(carry_out, "run_of", lambda *given: plain(*given).override(small))
    place = load("grids.running").Place(tmp_path, tmp_path, tmp_path / "work", "cpu", float("inf"), True)
    for system in grid.SYSTEMS:
        assert carry_out.carry_out(grid.Experiment("cifar10", system, 0), place).endswith(" s")
    results = load("grids.results").results_in(tmp_path)
    named = [one["name"] for one in results.contents["cifar10-dense", 0]["sets"]]
    assert named == [f"{name} {level}" for name in ("noise", "blur", "contrast", "jpeg") for level in (1, 5)]
    assert "| dense classifier (ERM) | dense layer |" in load("tables").tables(results)


def test_every_run_of_a_trial_has_one_epoch(load):
    grid, items = load("grid"), load("sets").by_drawers("Greek")
    tried = grid.grid(quick=True)
    assert {"cifar10-dense-0", "cifar10-narrow-dense-0", "plankton-prototypical-0", "pacs-dense-0"} <= {
        experiment.name for experiment in tried
    }
    for experiment in tried:
        assert grid.run_of(experiment, items, quick=True).epochs == 1


def test_what_is_not_there_is_left_out(load, tmp_path):
    grid, carry_out = load("grid"), load("carry_out")
    place = load("grids.running").Place(tmp_path, tmp_path, tmp_path, "cpu", float("inf"), True)
    for data in grid.FILES:
        assert carry_out.carry_out(grid.Experiment(data, "dense", 0), place) == "left out: no files"


def test_drawers_are_five_to_a_domain_and_strangers_come_last(load):
    sets = load("sets")
    items, others = sets.by_drawers("Greek"), sets.by_drawers("Hebrew")
    assert torch.bincount(items.domains).tolist() == [120] * 4
    known = items.take(torch.arange(0, len(items), 7))
    strange = sets.evenly(others, len(known))
    assert len(strange) == len(known)
    assert len(strange.labels.unique()) > 20
    both = sets.together(known, strange)
    assert torch.equal(both.labels[: len(known)], known.labels)
    assert {both.classes[label] for label in both.labels[len(known) :]} <= set(others.classes)
    assert torch.equal(both.inputs[len(known) :], strange.inputs)


def test_two_digits_are_new_among_others_than_those_at_home(load, tmp_path, monkeypatch):
    grid, carry_out = load("grid"), load("carry_out")
    compared = {}

    def shifts(_space, home, away, *, paired=False, **_):
        compared.update({name: (home, items, paired) for name, items in away.items()})
        return []

    monkeypatch.setattr(carry_out, "shifts", shifts)
    monkeypatch.setattr(carry_out, "fit", lambda run, sets, **_: build_space(run, sets.train))
    place = load("grids.running").Place(tmp_path, tmp_path, tmp_path, "cpu", float("inf"), True)
    carry_out.carry_out(grid.Experiment("digits", "dense", 0), place)
    home, items, paired = compared["new classes"]
    assert not paired
    assert compared["noise 1"][2]
    assert home.classes == tuple("01234567")
    new = items.labels >= 8
    assert set(items.labels[new].tolist()) == {8, 9}
    assert int(new.sum()) == int((~new).sum())
    near = torch.cdist(items.inputs[~new].flatten(1).float(), home.inputs.flatten(1).float())
    assert (near.amin(1) > 0).float().mean() > 0.99


def test_pairs_of_an_alphabet_are_judged_within_it(load):
    """At home and away the EER is that of the pairs of one alphabet, of home's in the mean."""
    sets, carry_out = load("sets"), load("carry_out")
    items = sets.by_alphabets(("Greek", "Tagalog", "Hebrew"))
    assert torch.bincount(items.domains).tolist() == [24 * 20, 17 * 20, 22 * 20]
    few = items.take(torch.arange(0, len(items), 5))
    home, away = (few.take((few.domains < 2) == wanted) for wanted in (True, False))
    space = build_space(
        load("grid").run_of(load("grid").Experiment("alphabets", "dense", 0), few), few
    ).eval()
    measured = carry_out._pairs(space, home, away, 0)
    z = {domain: embed(space, few.take(few.domains == domain).inputs) for domain in range(3)}
    trials = [all_trials(space, z[domain], few.labels[few.domains == domain], kind="cosine") for domain in z]
    rates = [equal_error_rate(some.scores, some.same).rate for some in trials]
    assert measured["home"]["cosine"] == pytest.approx((rates[0] + rates[1]) / 2)
    assert measured["away"]["cosine"] == pytest.approx(rates[2])


def test_a_column_has_its_own_domain_alone(load):
    shares = {"smallest": 0.2, "small": 0.4, "blur 1": 0.5, "blur 5": 0.7}
    sets = [{"name": name, "gaps": [{"away": {"mean": share}}]} for name, share in shares.items()]
    means = [load("tables")._mean(sets, 0, "away", name) for name in ("smallest", "small", "blur", "")]
    assert means == pytest.approx([20, 40, 60, 45])


def test_systems_are_compared_by_seed(load):
    def run(seed, *shares):
        gap = {"head": "similarity", "gap": {"mean": 0.1}}
        sets = [
            {"name": f"{i}", "left out": f"{i}", "gaps": [{**gap, "away": {"mean": share}}]}
            for i, share in enumerate(shares)
        ]
        return {"seed": seed, "sets": sets}

    runs = {
        "prototypical": [run(1, 0.5, 0.7), run(2, 0.9, 0.9)],
        "dense": [run(0, 0.1, 0.1), run(1, 0.2, 0.6)],
    }
    written = load("tables")._accuracies(runs)
    assert "| 10.00 ± 0.00 | 20.00 | 2 |" in written.splitlines()[2]
    assert written.splitlines()[3].endswith("|  | 2 |")


def test_the_table_of_alphabets_has_each_score_and_the_gap(load):
    one = {"left out": "Greek", "pairs": {"home": {"cosine": 0.1}, "away": {"cosine": 0.3}}}
    other = {"left out": "Hebrew", "pairs": {"home": {"cosine": 0.2}, "away": {"cosine": 0.2}}}
    written = load("tables")._errors_of_pairs({"dense": [{"sets": [one, other]}]})
    assert "| system | score | Greek | Hebrew | mean | home | gap | seeds |" in written
    assert "| dense classifier (ERM) | cosine | 30.00 | 20.00 | 25.00 | 15.00 | 10.00 | 1 |" in written


def test_the_dense_classifier_has_the_same_encoder(load):
    grid = load("grid")
    items = load("sets").by_drawers("Greek")
    ours, dense = (grid.run_of(grid.Experiment("characters", name, 0), items) for name in grid.SYSTEMS)
    assert ours.space.encoder == dense.space.encoder
    assert (ours.batches.sampler, dense.batches.sampler) == ("OnePerDomain", "Shuffled")
    assert dense.space.auxiliary is None


def test_the_page_has_the_tables_of_what_was_run(load):
    results = load("grids.results").results_in(ROOT / "results/shift")
    page = (ROOT / "docs/results/shift.md").read_text(encoding="utf-8")
    assert load("grids.tables").page_with(page, load("tables").tables(results), mark="tables") == page

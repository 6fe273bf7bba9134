"""The ladder: what is kept, what is told, and what a stopped one leaves."""

import dataclasses
import importlib

import pytest
import torch

from samekind.data import Items, clusters, prepare
from samekind.encoders import Compressed, Unchanged
from samekind.errors import SettingError
from samekind.recipes import climb, house, ladder
from samekind.recipes.ladder import BESIDE, FITTED, HEAD, LEGEND, NETWORK, SIDE_BY_SIDE, TRAINED
from samekind.recipes.rungs import Rungs
from samekind.space import MetricSpace
from samekind.training import Nobody, RunFolder

pytestmark = pytest.mark.usefixtures("one_thread", "few_draws")


@pytest.fixture(scope="module", autouse=True)
def quick_heads():
    """Heads of a few steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importlib.import_module("samekind.recipes.house"), "HEAD_STEPS", 10)
        yield


@pytest.fixture(scope="module")
def sets():
    """Eight classes that differ in four numbers of 24, under noise in the others: learning pays."""
    items = clusters(classes=12, items=20, dimension=4, spread=0.35, seed=1)
    noise = 0.9 * torch.randn(len(items), 20, generator=torch.Generator().manual_seed(2))
    every = dataclasses.replace(items, inputs=torch.cat([items.inputs, noise], 1))
    return prepare(every, unseen=every.classes[8:], seed=0)


@pytest.fixture(scope="module")
def run(sets):
    small = ["epochs=8", "space.encoder.hidden=[32]", "space.encoder.dimension=16", "batches.size=32"]
    return house(sets.train).override(small)


@pytest.fixture(scope="module")
def climbed(sets, run, tmp_path_factory):
    """A whole ladder: its folder, the lines it told, and the space of each rung."""
    folder, lines, spaces = tmp_path_factory.mktemp("ladder"), [], {}
    climb(
        sets,
        run=run,
        folder=folder,
        tell=lines.append,
        after_rung=lambda rung, fitted: spaces.update({rung.name: fitted}),
    )
    return folder, lines, spaces


def recalls(space):
    return [rung.recall for rung in space.ladder.rungs]


def test_the_rungs_are_reported_kept_and_saved(sets, climbed):
    folder, lines, spaces = climbed
    loaded = MetricSpace.load(folder / "space")
    names = [rung.name for rung in loaded.ladder.rungs]
    assert names == ["raw input", FITTED, HEAD, TRAINED, BESIDE] == list(spaces)
    assert loaded.ladder.kept in names
    assert lines[0].startswith("The rungs are measured on 4 folds of 2 classes not fitted to")
    assert lines[0].endswith(LEGEND)
    assert [line.partition(":")[0] for line in lines[1:] if "Recall@1" in line] == names
    assert loaded.classes == list(sets.train.classes)
    assert not (folder / "folds").exists()
    assert RunFolder(folder).finished
    # Thresholds are those of classes that were held out, not of the validation items.
    assert "not fitted to" in loaded.decisions["similarity"].trials


def test_with_few_classes_the_encoder_is_kept_beside_the_input_and_never_alone(sets, climbed, tmp_path):
    folder, lines, spaces = climbed
    assert "with 8 classes not kept alone" in next(line for line in lines if line.startswith(f"{TRAINED}: R"))
    assert MetricSpace.load(folder / "space").ladder.kept != TRAINED
    spaces[BESIDE].save(tmp_path / "beside")
    space, x = MetricSpace.load(tmp_path / "beside"), sets.unseen.inputs
    raw, trained = (torch.nn.functional.normalize(spaces[name].embed(x)) for name in ("raw input", TRAINED))
    assert torch.allclose(space.embed(x), torch.cat([raw, trained], 1), atol=1e-5)


def test_with_classes_enough_the_encoder_is_kept_alone(sets, run, tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.import_module("samekind.recipes.folds"), "FEW_CLASSES", 8)
    space = climb(sets, run=run, folder=tmp_path)
    assert BESIDE not in [rung.name for rung in space.ladder.rungs]


def test_held_out_classes_choose_the_bonus_of_enrolled_ones(climbed):
    for space in climbed[2].values():
        assert set(space.balances) == set(space.kinds)
        for balance in space.balances.values():
            assert "not fitted to" in balance.measured_on
            assert 0 <= balance.known <= 1
            assert 0 < balance.new <= 1


def test_held_out_classes_fit_the_threshold_for_none_of_these(sets, run, climbed, tmp_path, monkeypatch):
    """Not where it cannot tell them from the others."""
    fitted = [space.open_set for space in climbed[2].values()]
    assert all(decision is None or decision.equal_error <= 0.2 for decision in fitted)
    monkeypatch.setattr(importlib.import_module("samekind.inference.open_set"), "TOLD_APART", 0.5)
    space = climb(sets, run=run, folder=tmp_path, minutes=0)
    assert "not fitted to" in space.open_set.trials
    assert space.open_set.kind in space.kinds
    assert space.open_set.classes > 2


def test_without_time_the_encoder_is_not_trained(sets, run, tmp_path):
    lines = []
    space = climb(sets, run=run, folder=tmp_path, minutes=0, tell=lines.append)
    assert TRAINED not in [rung.name for rung in space.ladder.rungs]
    assert f"{TRAINED}: not begun: 8 epochs of 96 items" in lines[-1]
    assert "--minutes 1 allows it" in lines[-1]


@pytest.fixture
def informed(monkeypatch):
    """Beside the raw input there is a network that sees only the numbers in which classes differ."""
    network = Compressed(encoder=Unchanged(inputs=24), dimension=4).eval()
    monkeypatch.setattr(Rungs, "further", lambda self: [network])


def test_networks_side_by_side_are_one_space(informed, sets, run, climbed, tmp_path, monkeypatch):
    monkeypatch.setattr(ladder, "seconds_of_training", lambda *_, **__: 1e9)
    kept = ("raw input", SIDE_BY_SIDE)
    monkeypatch.setattr(ladder._Climb, "_is_better", lambda self, name, *_, **__: name in kept)
    space = climb(sets, run=run, folder=tmp_path)
    assert [rung.name for rung in space.ladder.rungs] == ["raw input", FITTED, SIDE_BY_SIDE, HEAD]
    assert space.ladder.kept == SIDE_BY_SIDE
    assert space.ladder.rung(SIDE_BY_SIDE).recall > space.ladder.rung("raw input").recall
    # What is saved are both, each of length 1; 28 numbers are few enough to be only turned.
    z = MetricSpace.load(tmp_path / "space").embed(sets.unseen.inputs)
    start = climbed[2]["raw input"].embed(sets.unseen.inputs)
    both = [torch.nn.functional.normalize(part) for part in (start, sets.unseen.inputs[:, :4])]
    every = torch.cat(both, 1)
    torch.testing.assert_close(z @ z.T, every @ every.T, atol=1e-4, rtol=0)


def test_the_trained_encoder_is_tried_beside_the_networks_that_were_kept(
    informed, sets, run, tmp_path, monkeypatch
):
    monkeypatch.setattr(importlib.import_module("samekind.recipes.folds"), "FEW_CLASSES", 8)
    kept = ("raw input", SIDE_BY_SIDE, BESIDE)
    monkeypatch.setattr(ladder._Climb, "_is_better", lambda self, name, *_, **__: name in kept)
    space = climb(sets, run=run, folder=tmp_path)
    assert [rung.name for rung in space.ladder.rungs][2:] == [SIDE_BY_SIDE, HEAD, TRAINED, BESIDE]
    assert space.ladder.kept == BESIDE
    assert MetricSpace.load(tmp_path / "space").embed(sets.unseen.inputs).shape[1] == 24 + 4 + 16


def test_networks_side_by_side_need_time(informed, sets, run, tmp_path):
    lines = []
    space = climb(sets, run=run, folder=tmp_path, minutes=0, tell=lines.append)
    assert SIDE_BY_SIDE not in [rung.name for rung in space.ladder.rungs]
    [line] = [line for line in lines if line.startswith(SIDE_BY_SIDE)]
    assert "not begun: 128 items through 1 further network, about 1 second" in line
    assert "--minutes 1 allows it" in line


def test_the_time_of_features_is_told_before_they_are_computed(informed, sets, run, tmp_path, monkeypatch):
    monkeypatch.setattr(ladder, "WORTH_SAYING", 0.0)
    monkeypatch.setattr(ladder, "seconds_of_training", lambda *_, **__: 1e9)
    lines = []
    climb(sets, run=run, folder=tmp_path, tell=lines.append)
    items = len(sets.train) + len(sets.validation)
    assert lines[0] == f"raw input: {items} items through the network, about 1 second"
    announced, measured = (line for line in lines if line.startswith(f"{SIDE_BY_SIDE}:"))
    assert announced == f"{SIDE_BY_SIDE}: {items} items through 1 further network, about 1 second"
    assert measured.startswith(f"{SIDE_BY_SIDE}: Recall@1")
    # On the way on, the features are there already.
    again = []
    (tmp_path / "features").mkdir(exist_ok=True)
    climb(sets, run=run, folder=tmp_path, tell=again.append)
    assert "through the network" not in again[0]


def test_a_stopped_ladder_has_an_answer_and_goes_on(sets, run, climbed, tmp_path):
    class Stopping(Nobody):
        def epoch(self, entry):
            if entry["epoch"] == 3:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        climb(sets, run=run, folder=tmp_path, watcher=Stopping())
    answer = MetricSpace.load(tmp_path / "space")
    assert answer.ladder.kept in ("raw input", FITTED, HEAD)
    assert answer.decisions
    whole = MetricSpace.load(climbed[0] / "space")
    assert recalls(climb(sets, run=run, folder=tmp_path)) == recalls(whole)


def test_a_rung_that_is_not_better_is_not_kept(sets, run, tmp_path, monkeypatch):
    monkeypatch.setattr(ladder, "is_better", lambda *_, **__: False)
    space = climb(sets, run=run, folder=tmp_path, minutes=0)
    assert space.ladder.kept == "raw input"
    assert len(space.ladder.rungs) == 3
    assert space.fitted is None


def test_test_items_and_unseen_classes_change_nothing(sets, run, climbed, tmp_path):
    spoilt = {
        name: dataclasses.replace(part, inputs=torch.full_like(part.inputs, torch.nan))
        for name, part in (("test", sets.test), ("unseen", sets.unseen))
    }
    blind = climb(dataclasses.replace(sets, **spoilt), run=run, folder=tmp_path, minutes=0)
    assert recalls(blind) == recalls(MetricSpace.load(climbed[0] / "space"))[:3]


def test_with_classes_enough_a_network_over_pairs_is_tried_and_its_gap_told(sets, run, tmp_path, monkeypatch):
    monkeypatch.setattr(ladder, "CLASSES_FOR_NETWORK", 8)
    monkeypatch.setattr(importlib.import_module("samekind.recipes.house"), "NETWORK_STEPS", 10)
    lines, spaces = [], {}
    climb(
        sets,
        run=run,
        folder=tmp_path,
        minutes=0,
        tell=lines.append,
        after_rung=lambda rung, space: spaces.update({rung.name: space}),
    )
    assert list(spaces)[-1] == NETWORK
    assert {"similarity", "cosine", "fused"} <= set(spaces[NETWORK].kinds)
    assert lines[-1].startswith(f"{NETWORK}: EER ")
    assert "on the classes it was fitted to" in lines[-1]


def test_few_classes_are_measured_by_items(tmp_path):
    sets = prepare(clusters(classes=2, items=30, dimension=5, seed=1))
    space = climb(sets, folder=tmp_path, minutes=0)
    assert "too few to hold out" in space.ladder.measured_on


def test_mistakes_are_refused_before_anything_is_written(sets, tmp_path):
    with pytest.raises(SettingError, match="operating point"):
        climb(sets, folder=tmp_path / "run", point="mcr=1")
    with pytest.raises(SettingError, match="expected sets"):
        climb(Items(torch.rand(4, 2), torch.arange(4) % 2, ("a", "b"), "x"), folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()

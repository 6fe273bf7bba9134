"""fit: trains, fits thresholds, saves, and gives the same space again without training."""

import json
import threading
from dataclasses import replace

import pytest
import torch
from torch import nn

from samekind import recipes
from samekind.data import Split, clusters, digits, prepare, scaled
from samekind.encoders.foreign import Foreign
from samekind.errors import DataError, SettingError, SpaceError, TrainingError
from samekind.evaluation import validation
from samekind.inference import embed
from samekind.inference.embed import device_of
from samekind.prototypes import SupportMeans
from samekind.recipes import fit, fitting
from samekind.space import MetricSpace
from samekind.training import Nobody

pytestmark = pytest.mark.usefixtures("one_thread")


def small(recipe, shape):
    run = recipes.RECIPES[recipe](shape)
    # Attended has a width of its own; the network is inside.
    network = "space.encoder" if run.space.encoder.name != "Attended" else "space.encoder.backbone"
    batches = "batches.size=16" if run.batches.sampler == "Shuffled" else "batches.tuples=4"
    return run.override(["epochs=2", batches, f"{network}.width=4"])


@pytest.mark.parametrize("recipe", ["prototypical", "verification", "triplet", "unseen-proxy-nca-adapt-adv"])
def test_loads_the_space_that_was_saved(recipe, sets, tmp_path):
    space = fit(small(recipe, sets.train.shape), sets, folder=tmp_path)
    loaded = MetricSpace.load(tmp_path / "space")
    z = embed(space, sets.test.inputs)
    assert torch.equal(z, embed(loaded, sets.test.inputs))
    assert space.classify(z).classes == loaded.classify(z).classes
    assert set(space.decisions) == set(space.kinds)
    assert loaded.decisions == space.decisions
    assert loaded.classes == ["0", "1", "2", "3"]
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"best.pt", "data.json", "last.pt", "record.jsonl", "run.json", "space", "split.json"}


def test_support_means_are_those_of_the_training_items(sets, tmp_path):
    space = fit(small("verification", sets.train.shape), sets, folder=tmp_path)
    assert isinstance(space.prototypes, SupportMeans)
    z = embed(space, sets.train.inputs)
    for label in range(4):
        mean = z[sets.train.labels == label].mean(0)
        torch.testing.assert_close(space.prototypes.vectors[label, 0], mean)


def test_embeddings_are_compressed_after_training(sets, tmp_path):
    run = small("unseen-proxy-nca", sets.train.shape)
    whole = fit(run, sets, folder=tmp_path / "whole")
    short = fit(run.override(["compress=5"]), sets, folder=tmp_path / "short")
    assert torch.equal(embed(whole, sets.test.inputs), short.encoder.features(scaled(sets.test.inputs)))
    assert MetricSpace.load(tmp_path / "short" / "space").encoder.dimension == 5
    assert set(short.decisions) == set(short.kinds)
    assert short.classes == whole.classes
    again = fit(run.override(["optimiser.rate=0", "epochs=1"]), sets, folder=tmp_path / "on", start=short)
    assert torch.equal(again.encoder.embedding.weight, whole.encoder.embedding.weight)
    refused = small("prototypical", sets.train.shape).override(["compress=5"])
    with pytest.raises(SettingError, match=r"run\.compress: .* has weights"):
        fit(refused, sets, folder=tmp_path / "refused")


def test_thresholds_come_from_the_validation_items_at_the_point_asked_for(sets, tmp_path):
    space = fit(small("triplet", sets.train.shape), sets, folder=tmp_path, point="far=0.1")
    for decision in space.decisions.values():
        assert decision.point == "far=0.1"
        assert decision.trials.startswith(sets.validation.name)
        assert decision.false_accepts <= 0.1


def test_test_items_do_not_change_the_space(sets, tmp_path):
    """With nothing but NaN in the test items and the unseen classes the same space comes out."""
    run = small("prototypical", sets.train.shape)
    spoilt = {
        name: replace(getattr(sets, name), inputs=torch.full_like(getattr(sets, name).inputs, torch.nan))
        for name in ("test", "unseen")
    }
    fair = fit(run, sets, folder=tmp_path / "fair")
    blind = fit(run, replace(sets, **spoilt), folder=tmp_path / "blind")
    assert fair.decisions == blind.decisions
    fair, blind = fair.state_dict(), blind.state_dict()
    assert all(torch.equal(fair[name], blind[name]) for name in fair)


def test_every_epoch_is_measured_by_what_the_run_asks_for(sets, tmp_path):
    changes = ['validate=["clustering", "retrieval"]', 'watch="recall@1"', 'better="higher"']
    run = small("triplet", sets.train.shape).override(changes)
    space = fit(run, sets, folder=tmp_path)
    entries = [json.loads(line) for line in (tmp_path / "record.jsonl").read_text().splitlines()]
    measures = validation(sets.validation, ("clustering", "retrieval"))
    assert {"nmi", "recall@1", "recall@8", "knn accuracy"} <= entries[-1]["validation"].keys()
    best = [entry["validation"] for entry in entries if entry["best"]][-1]
    assert best == pytest.approx(measures(space))
    assert best["recall@1"] == max(entry["validation"]["recall@1"] for entry in entries)


@pytest.mark.parametrize(
    ("watch", "says"),
    [
        ("recall@1", 'run.watch: "recall@1" is measured by "retrieval", which run.validate does not name'),
        ("recall@1 cosine", 'is measured by "retrieval"'),
        ("er", 'run.watch: no measure "er"; did you mean "eer"?'),
        ("nmi cosine", 'run.watch: no measure "nmi cosine"'),
    ],
)
def test_refuses_an_unknown_measure_before_training(watch, says, sets, tmp_path):
    run = small("triplet", sets.train.shape).override([f'watch="{watch}"'])
    with pytest.raises(SettingError) as refused:
        fit(run, sets, folder=tmp_path / "run")
    assert says in str(refused.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("point", ["far=2", "mcr=0.1"])
def test_refuses_an_unknown_operating_point_before_training(point, sets, tmp_path):
    with pytest.raises(SettingError, match="expected an operating point"):
        fit(small("triplet", sets.train.shape), sets, folder=tmp_path / "run", point=point)
    assert not (tmp_path / "run").exists()


def test_refuses_a_single_class_before_training(sets, tmp_path):
    alone = prepare(digits().only(["0", "1"]).take(torch.arange(40)), unseen=["1"])
    with pytest.raises(DataError, match="validation: expected two classes or more"):
        fit(small("triplet", alone.train.shape), alone, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_refuses_validation_items_without_a_pair_before_training(sets, tmp_path):
    """The thresholds come from them even where the test items choose the epoch."""
    run = small("triplet", sets.train.shape).override(["select_on=test"])
    firsts = torch.stack([(sets.validation.labels == label).nonzero()[0, 0] for label in range(4)])
    with pytest.raises(DataError, match="one of them with two items, to validate on"):
        fit(run, replace(sets, validation=sets.validation.take(firsts)), folder=tmp_path)
    assert not (tmp_path / "run.json").exists()


def test_the_split_is_saved(sets, tmp_path):
    fit(small("triplet", sets.train.shape), sets, folder=tmp_path)
    every = digits().only(["0", "1", "2", "3", "4"]).take(torch.arange(120))
    stored = Split.load(tmp_path / "split.json", every)
    assert stored.parts.keys() == sets.split.parts.keys()
    assert all(torch.equal(stored.parts[name], sets.split.parts[name]) for name in stored.parts)


def test_a_stopped_training_leaves_its_split_and_a_refused_one_nothing(sets, tmp_path):
    class Stopping(Nobody):
        def step(self, *, loss, items_per_second):
            raise KeyboardInterrupt

    run = small("triplet", sets.train.shape)
    with pytest.raises(SettingError):
        fit(run, sets, folder=tmp_path / "refused", device="gpu")
    assert not (tmp_path / "refused" / "split.json").exists()
    with pytest.raises(KeyboardInterrupt):
        fit(run, sets, folder=tmp_path, watcher=Stopping())
    stored = json.loads((tmp_path / "split.json").read_text())
    assert stored["settings"] == sets.split.settings is not None


def test_the_same_call_gives_the_same_space_without_training(sets, tmp_path):
    run = small("prototypical", sets.train.shape)
    first = fit(run, sets, folder=tmp_path).state_dict()
    record = (tmp_path / "record.jsonl").read_bytes()
    again = fit(run, sets, folder=tmp_path).state_dict()
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert (tmp_path / "record.jsonl").read_bytes() == record


def test_refuses_another_split_and_leaves_the_folder_as_it_was(sets, tmp_path):
    run = small("triplet", sets.train.shape)
    fit(run, sets, folder=tmp_path)
    split = json.loads((tmp_path / "split.json").read_text())
    every = digits().only(["0", "1", "2", "3", "4"]).take(torch.arange(120))
    other = prepare(every, unseen=["4"], seed=1)
    with pytest.raises(TrainingError, match="other data"):
        fit(run, other, folder=tmp_path)
    assert json.loads((tmp_path / "split.json").read_text()) == split


def test_start_is_handed_on(sets, tmp_path):
    run = small("triplet", sets.train.shape)
    start = fit(run, sets, folder=tmp_path / "first")
    frozen = run.override(["optimiser.rate=0", "epochs=1"])
    space = fit(frozen, sets, folder=tmp_path / "second", start=start)
    assert torch.equal(space.encoder.embedding.weight, start.encoder.embedding.weight)


def test_an_own_encoder_is_trained_saved_and_loaded(sets, tmp_path):
    def mine():
        module = nn.Sequential(nn.Flatten(), nn.Linear(64, 12), nn.ReLU())
        return Foreign(module, feature_dimension=12, dimension=6)

    run = small("prototypical", sets.train.shape)
    space = fit(run, sets, folder=tmp_path, encoder=mine())
    again = MetricSpace.load(tmp_path / "space", encoder=mine())
    z = embed(space, sets.test.inputs)
    assert z.shape[1] == 6
    assert torch.equal(embed(again, sets.test.inputs), z)
    assert again.decisions == space.decisions
    finished = fit(run, sets, folder=tmp_path, encoder=mine())
    assert torch.equal(embed(finished, sets.test.inputs), z)
    with pytest.raises(SpaceError, match="an encoder of your own, Foreign; pass it as load"):
        MetricSpace.load(tmp_path / "space")


def test_refuses_a_start_with_another_encoder(sets, tmp_path):
    vectors = prepare(clusters(classes=4, items=10, dimension=6))
    other = fit(recipes.triplet((6,)).override(["epochs=1"]), vectors, folder=tmp_path / "vectors")
    with pytest.raises(
        SettingError, match=r"its encoder \(MLP, standardised\) does not fit this run's \(SmallConvnet\)"
    ):
        fit(small("triplet", sets.train.shape), sets, folder=tmp_path / "images", start=other)


@pytest.mark.device
def test_a_space_is_settled_on_the_device_it_was_trained_on_and_comes_back_on_the_cpu(
    sets, tmp_path, monkeypatch
):
    seen = []

    def settle(space, *_, **__):
        seen.append(device_of(space).type)

    monkeypatch.setattr(fitting, "settle", settle)
    space = fit(small("verification", sets.train.shape), sets, folder=tmp_path, device="cuda")
    assert seen == ["cuda"]
    assert device_of(space).type == "cpu"


def test_refuses_a_second_training_until_the_space_is_saved(sets, tmp_path, monkeypatch):
    """The trainer is done by then, but not the run: two would save into one another's space."""
    run, real, raised = small("triplet", sets.train.shape), fitting.settle, []

    def second():
        with pytest.raises(TrainingError, match="this very process is training in"):
            fit(run, sets, folder=tmp_path)
        raised.append(True)

    def settle(*arguments, **options):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
        return real(*arguments, **options)

    monkeypatch.setattr(fitting, "settle", settle)
    fit(run, sets, folder=tmp_path)
    assert raised == [True]
    monkeypatch.undo()
    fit(run, sets, folder=tmp_path)

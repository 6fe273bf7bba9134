"""The study of speakers: folds by speaker, small runs from features or embeddings to tables, its page."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile
import torch

from samekind.acoustics import as_samples, lengths_of, padded
from samekind.data import Items, SoundReader
from samekind.encoders import ECAPA, CAMPlusPlus, SpeakerNetwork
from samekind.inference import write_sounds
from samekind.measures import student_interval

ROOT = Path(__file__).parents[1]
STUDY = "speakers"
ROOMS = ("vr-room", "kino")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Features of 60 speakers with ten utterances each, clean and twice with noise, and embeddings."""
    folder, generator = tmp_path_factory.mktemp("features"), torch.Generator().manual_seed(0)
    labels = torch.arange(60).repeat_interleave(10)
    names = tuple(f"{place:02d}" for place in range(60))
    voices = torch.randn(60, 30, 1, generator=generator)
    domains = (labels % 3 == 0).long()
    for name in ("clean", "noisy-train", "noisy-test"):
        lengths = torch.randint(20, 60, (600,), generator=generator).tolist()
        sounds = [
            voices[label] + torch.randn(30, length, generator=generator)
            for label, length in zip(labels.tolist(), lengths, strict=True)
        ]
        items = Items(
            padded(sounds),
            labels,
            names,
            name,
            reader=SoundReader(),
            domains=domains,
            domain_names=ROOMS,
        )
        write_sounds(folder / f"{name}.npz", items)
    voices = torch.randn(60, 24, generator=generator)
    for count in (1, 5):
        for sound in ("clean", "noise"):
            z = voices[labels] + 0.8 * torch.randn(600, 24, generator=generator)
            arrays = {"embeddings": z.numpy(), "labels": labels.numpy(), "classes": np.array(names)}
            np.savez(folder / f"cam++-{count}-{sound}.npz", **arrays)
    return folder


@pytest.fixture
def place(load, data, tmp_path):
    return load("grids.running").Place(
        data, tmp_path / "out", tmp_path / "work", "cpu", float("inf"), quick=True
    )


def test_every_speaker_is_tested_once_and_is_never_in_two_parts(load, place):
    sets, grid = load("sets"), load("grid")
    tested = []
    for fold in range(6):
        parts = sets.parts_of(grid.Experiment("speaker", fold, 0), place)
        test = set(parts.test["1 digit, clean"].classes)
        train, validation = set(parts.train.classes), set(parts.validation.classes)
        assert [len(train), len(validation), len(test)] == [40, 10, 10]
        assert len(train | validation | test) == 60
        assert {frozenset(items.classes) for items in parts.test.values()} == {frozenset(test)}
        tested += sorted(test)
    assert sorted(tested) == [f"{place:02d}" for place in range(60)]


def test_five_utterances_are_joined_and_each_is_used_once(load, place):
    sets = load("sets")
    items = sets.clean_items(place)
    joined = sets.joined(items)
    assert len(joined) == 120
    assert int(lengths_of(joined.inputs).sum()) == int(lengths_of(items.inputs).sum())
    two = sets.joined(items.only(items.classes[3:5]))
    torch.testing.assert_close(
        two.inputs[0, :, :90].nan_to_num(0), joined.inputs[6, :, :90].nan_to_num(0)
    )  # whoever else is there
    assert len(sets.few(items, 4)) == 240


def test_rooms_are_apart(load, place):
    sets = load("sets")
    rooms = sets.rooms_of(sets.clean_items(place))
    train, validation, new, test = sets.room_speakers(rooms, 0)
    assert {rooms[name] for name in (*train, *validation)} == {"vr-room"}
    assert {rooms[name] for name in (*new, *test)} == {"kino"}
    assert len({*train, *validation, *new, *test}) == 60
    assert set(sets.room_speakers(rooms, 1)[2]) == set(test)


@pytest.mark.parametrize(
    "system", ["small-speaker", "small-triplet", "small-random", "small-speaker-noisy", "small-rooms"]
)
def test_a_small_run_is_trained_scored_and_tabled(load, place, system):
    experiment = load("grid").Experiment(system, 0, 0)
    assert "1 digit, clean PLDA" in load("carry_out").carry_out(experiment, place)
    assert load("carry_out").carry_out(experiment, place) == "was there"
    content = json.loads(place.result_of(experiment).read_text(encoding="utf-8"))
    for values in content["measures"]["1 digit, clean"].values():
        assert 0 <= values["EER"] <= 1
        assert values["Cllr"] >= 0
    if system != "small-random":
        assert content["run"]["space"]["encoder"]["encoder"]["width"] == 16
    written = load("tables").tables(load("grids.results").results_in(place.out))
    assert "| cosine | 1 x 1 |" in written or "| narrow network | cosine |" in written
    if system == "small-rooms":
        assert "| narrow network | cosine, trained on there |" in written
        kinds = content["measures"]["1 digit, clean"]
        assert kinds["gone on, cosine"] != kinds["cosine"] != kinds["new room alone, cosine"]


def test_a_published_network_is_scored_in_every_way(load, place):
    carry_out, grid = load("carry_out"), load("grid")
    for system in ("cam++", "ladder-cam++"):
        carry_out.carry_out(grid.Experiment(system, 2, 0), place._replace(quick=False))
    carry_out.carry_out(grid.Experiment("rooms-cam++", 0, 0), place._replace(quick=False))
    assert carry_out.carry_out(grid.Experiment("ecapa", 0, 0), place) == "has no ecapa-1-clean.npz"
    written = load("tables").tables(load("grids.results").results_in(place.out))
    for score in ("cosine", "cosine, centred, AS-norm", "PLDA", "house: what the ladder kept"):
        assert f"| CAM++ | {score} | 1 x 1 |" in written
    assert "| CAM++ | PLDA, adapted without labels |" in written
    assert "What the ladder kept: " in written


def test_a_published_network_is_trained_further_from_its_own_features(load, place, monkeypatch):
    sets, opened = load("sets"), []
    monkeypatch.setattr(sets, "_opened", lambda path: opened.append(path.name) or real(path))
    real = lambda path: sets.open_data(path.with_name(path.name.removeprefix("cam++-")))  # noqa: E731
    experiment = load("grid").Experiment("tuned-cam++", 0, 1)
    parts = sets.parts_of(experiment, place)
    assert set(opened) == {"cam++-clean.npz", "cam++-noisy-test.npz"}
    run = load("systems").run_of(experiment, parts.train, place)
    assert run.space.encoder.name == "SpeakerNetwork"
    assert run.space.encoder.arguments["weights"] == str(place.data / "campplus_cn_en_common.pt")
    assert (run.seed, run.epochs, run.optimiser.rate) == (1, 1, 1e-4)
    said = load("carry_out").carry_out(experiment, place)
    assert said == "has no cam++-clean.npz and no cam++-noisy-test.npz and no campplus_cn_en_common.pt"


def test_the_last_layers_continue_the_first(load):
    last_layers, generator = load("last_layers"), torch.Generator().manual_seed(0)
    network = CAMPlusPlus().eval()
    features = padded([torch.randn(80, length, generator=generator) for length in (41, 64, 30)])
    with torch.no_grad():
        maps = last_layers.first_maps(network, features)
        assert maps.shape == (3, 512, 32)
        assert lengths_of(maps).tolist() == [21, 32, 15]
        torch.testing.assert_close(last_layers.LastLayers(network).eval()(maps), network(features))
    layers = last_layers.LastLayers(network).train()
    assert layers.training
    assert not any(module.training for module in layers.modules() if "BatchNorm" in type(module).__name__)


def test_the_last_layer_of_ecapa_continues_the_first(load):
    last_layers, generator = load("last_layers"), torch.Generator().manual_seed(0)
    network = small_network().module.eval()
    features = padded([torch.randn(80, length, generator=generator) for length in (41, 64, 30)])
    with torch.no_grad():
        maps = last_layers.first_maps(network, features)
        assert maps.shape == (3, 48, 1)
        torch.testing.assert_close(last_layers.LastLayer(network)(maps), network(features))


@pytest.mark.parametrize(
    ("system", "source", "channels"),
    [
        ("further-cam++", "maps-cam++", 512),
        ("further-ecapa", "maps-ecapa", 48),
        ("whole-ecapa", "features-ecapa", 80),
    ],
)
def test_what_is_trained_further_is_scored_as_the_network_was(
    load, place, monkeypatch, system, source, channels
):
    further, generator = load("further"), torch.Generator().manual_seed(1)
    experiment = load("grid").Experiment(system, 1, 0)
    weights = further.weights_of(experiment)
    assert load("carry_out").carry_out(experiment, place) == f"has no {source}-1-clean.npz and no {weights}"
    made = SimpleNamespace(module=CAMPlusPlus()) if system == "further-cam++" else small_network()
    monkeypatch.setitem(further.EPOCHS, system, 1)
    asked = []
    monkeypatch.setattr(further, "SpeakerNetwork", lambda **given: asked.append(given) or made)
    labels = torch.arange(60).repeat_interleave(10)
    names = tuple(f"{place:02d}" for place in range(60))
    voices = torch.randn(60, channels, 1, generator=generator)
    frames = 1 if source == "maps-ecapa" else 8
    folder = place.work / "inputs"
    folder.mkdir(parents=True)
    (folder / weights).touch()
    for condition in ("1-clean", "5-clean", "1-noise", "5-noise"):
        sounds = [
            voices[label] + torch.randn(channels, frames, generator=generator) for label in labels.tolist()
        ]
        items = Items(padded(sounds), labels, names, condition, reader=SoundReader())
        write_sounds(folder / f"{source}-{condition}.npz", items)
    load("carry_out").carry_out(experiment, place._replace(data=folder))
    content = json.loads(place.result_of(experiment).read_text(encoding="utf-8"))
    assert set(content["measures"]) == {
        f"{length}, {sound}" for length in ("1 digit", "5 digits") for sound in ("clean", "noise")
    }
    assert {"cosine", "PLDA", "house, fitted"} <= set(content["measures"]["5 digits, noise"])
    assert content["run"]["epochs"] == 1
    assert asked[0]["network"] == system.partition("-")[2]
    assert asked[0]["batch_norm"] == "frozen"


def small_network():
    """A network of the kind of "ecapa", with fresh weights and few of them."""
    network = SpeakerNetwork(network="cam++", batch_norm="frozen")
    network.module = ECAPA(width=16, last_width=24, dimension=12)
    network.dimension = 12
    return network


def test_noise_is_that_among_all_whatever_is_asked_for(load, tmp_path):
    prepare, generator = load("prepare"), torch.Generator().manual_seed(0)
    for clip in range(3):
        noise = torch.randn(3000, generator=generator) / 10
        soundfile.write(tmp_path / f"{clip}.wav", noise.numpy(), 16000)
    lengths = torch.randint(400, 900, (7,), generator=generator).tolist()
    sounds = [as_samples(torch.randn(1, length, generator=generator) / 10) for length in lengths]
    items = Items(padded(sounds), torch.arange(7) % 2, ("a", "b"), "sounds", reader=SoundReader())
    everything = prepare.with_noise(items, str(tmp_path), seed=3)
    few = prepare.with_noise(items, str(tmp_path), seed=3, places=torch.tensor([1, 4, 5]))
    assert lengths_of(everything.inputs).tolist() == lengths
    assert few.labels.tolist() == [1, 0, 1]
    longest = few.inputs.shape[-1]
    assert torch.equal(few.inputs, everything.inputs[[1, 4, 5], :, :longest])
    assert not torch.equal(everything.inputs, items.inputs)


def test_differences_are_paired_over_the_folds_that_both_have(load):
    module, results = load("differences"), load("grids.results").Results
    rates = {("a", 0): 0.3, ("a", 1): 0.2, ("b", 0): 0.31, ("b", 1): 0.23, ("b", 2): 0.9}
    contents = [
        {"variant": f"{system}-{fold}", "seed": 0, "measures": {"clean": {"cosine": {"EER": rate}}}}
        for (system, fold), rate in rates.items()
    ]
    asked = module.Comparison("a against b", module.Side("a", "cosine"), module.Side("b", "cosine"))
    (row,) = module.differences(results(contents), [asked], ["clean", "noise"])
    half = student_interval([-1.0, -3.0]).half
    assert row == ["a against b", "2", f"-2.0 ± {half:.1f}", ""]
    swapped = module.Comparison("no such fold", module.Side("c", "cosine"), module.Side("b", "cosine"))
    assert module.differences(results(contents), [swapped], ["clean"]) == []


def test_a_whole_network_is_compared_with_the_network_as_it_came_and_with_its_last_layers(load):
    tables = load("tables")
    asked = load("differences").of_further(tables.TRAINED_FURTHER)
    pairs = {(one.first.system, one.second.system, one.first.kind) for one in asked}
    assert ("whole-cam++", "cam++", "cosine") in pairs
    assert ("whole-ecapa", "ladder-ecapa", "house, fitted") in pairs
    assert ("whole-cam++", "further-cam++", "house, fitted") in pairs
    assert ("further-ecapa", "ecapa", "cosine, centred") in pairs
    assert all(one.first.kind == one.second.kind for one in asked)
    assert not any(one.first.system == one.second.system for one in asked)


def test_a_full_grid_has_every_fold_and_seed(load):
    grid = load("grid")
    names = [experiment.name for experiment in grid.grid()]
    assert len(names) == len(set(names))
    assert {f"{system}-{fold}-0" for system in grid.FROZEN for fold in range(6)} <= set(names)
    for system in (
        *grid.LADDERS,
        *grid.UNTRAINED,
        *grid.TRAINED,
        *grid.TUNED,
        *grid.NARROW,
        *grid.FURTHER,
        *grid.WHOLE,
    ):
        assert {f"{system}-{fold}-{seed}" for fold in range(6) for seed in range(3)} <= set(names)


def test_the_page_has_the_tables_of_what_was_run(load):
    results = load("grids.results").results_in(ROOT / "results/speakers")
    page = (ROOT / "docs/results/speakers.md").read_text(encoding="utf-8")
    assert load("grids.tables").page_with(page, load("tables").tables(results), mark="tables") == page

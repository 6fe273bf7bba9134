"""The study of speakers: folds by speaker, small runs from features or embeddings to tables, its page."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from samekind.acoustics import lengths_of, padded
from samekind.data import Items, SoundReader
from samekind.inference import write_sounds

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


@pytest.mark.parametrize("system", ["small-speaker", "small-triplet", "small-random", "rooms"])
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
    assert "| cosine | 1 x 1 |" in written or "| speaker, trained | cosine |" in written


def test_a_published_network_is_scored_in_every_way(load, place):
    carry_out, grid = load("carry_out"), load("grid")
    for system in ("cam++", "ladder-cam++"):
        carry_out.carry_out(grid.Experiment(system, 2, 0), place._replace(quick=False))
    carry_out.carry_out(grid.Experiment("rooms-cam++", 0, 0), place._replace(quick=False))
    assert carry_out.carry_out(grid.Experiment("ecapa", 0, 0), place) == "has no embeddings"
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


def test_a_full_grid_has_every_fold_and_seed(load):
    grid = load("grid")
    names = [experiment.name for experiment in grid.grid()]
    assert len(names) == len(set(names))
    assert {f"{system}-{fold}-0" for system in grid.FROZEN for fold in range(6)} <= set(names)
    for system in (*grid.LADDERS, *grid.UNTRAINED, *grid.TRAINED, *grid.TUNED, *grid.NARROW):
        assert {f"{system}-{fold}-{seed}" for fold in range(6) for seed in range(3)} <= set(names)


def test_the_page_has_the_tables_of_what_was_run(load):
    results = load("grids.results").results_in(ROOT / "results/speakers")
    page = (ROOT / "docs/results/speakers.md").read_text(encoding="utf-8")
    assert load("grids.tables").page_with(page, load("tables").tables(results), mark="tables") == page

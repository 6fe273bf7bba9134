"""samekind leave-one-out: each domain in turn, their mean and the worst."""

import json

import numpy as np
import pytest
from PIL import Image

from samekind.training import RunFolder


@pytest.fixture(scope="module")
def two_rooms(tmp_path_factory):
    """Vectors of three classes, seen in two rooms that shift them."""
    random = np.random.default_rng(0)
    labels, rooms = np.tile(np.arange(3), 24), np.repeat([0, 1], 36)
    inputs = np.eye(3, 4)[labels] * 3 + random.normal(0, 0.5, (72, 4)) + rooms[:, None]
    path = tmp_path_factory.mktemp("data") / "rooms.npz"
    np.savez(path, inputs=inputs.astype("float32"), labels=labels, domains=rooms)
    return path


def command(samekind, data, folder, *more):
    return samekind(
        "leave-one-out",
        "triplet",
        "--data",
        data,
        "--out",
        folder,
        "--set",
        "epochs=1",
        "--tasks",
        "3",
        *more,
    )


def test_every_domain_their_mean_and_the_worst(samekind, two_rooms, tmp_path):
    answer = command(samekind, two_rooms, tmp_path / "runs", "--json")
    assert answer.status == 0, answer.err
    rows = json.loads(answer.out)["systems"]["triplet"]
    assert json.loads(answer.out)["warnings"] == {"triplet": []}
    names = {row["items"] for row in rows if row["measure"] == "EER"}
    assert {"0", "1", "mean"} < names
    assert any(name.startswith("worst (") for name in names)
    assert {row["note"] for row in rows} == {""}
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["0", "1"]


def test_folders_of_domains_by_one_item_of_each(samekind, tmp_path):
    """domain/class/picture, as PACS is published, with the papers' recipe and sampler."""
    random = np.random.default_rng(0)
    for style in ("photo", "art", "sketch"):
        for name, shade in {"dark": 60, "light": 180}.items():
            folder = tmp_path / "pacs" / style / name
            folder.mkdir(parents=True)
            for number in range(8):
                pixels = random.integers(shade, shade + 60, (16, 16), dtype=np.uint8)
                Image.fromarray(pixels).save(folder / f"{number}.png")
    answer = samekind(
        *("leave-one-out", "prototypical", "--data", tmp_path / "pacs", "--out", tmp_path / "runs"),
        *("--set", "data.domain=folder", "--set", "data.size=16", "--set", "epochs=1", "--tasks", "2"),
        *("--set", "batches={sampler='OnePerDomain', size=4}", "--set", "schedule={name='constant'}"),
        "--json",
    )
    assert answer.status == 0, answer.err
    rows = json.loads(answer.out)["systems"]["prototypical"]
    named = {row["items"] for row in rows if row["measure"] == "accuracy"}
    assert {"art", "photo", "sketch", "mean"} < named
    assert {row["kind"] for row in rows if row["items"] == "art"} >= {"similarity", "auxiliary"}


def test_choosing_on_the_domain_left_out_is_noted(samekind, two_rooms, tmp_path, monkeypatch):
    answer = command(samekind, two_rooms, tmp_path / "runs", "--select-on-test", "--json")
    notes = {row["note"] for row in json.loads(answer.out)["systems"]["triplet"]}
    assert notes == {"selected on test"}
    monkeypatch.setattr("samekind.questions.leave_one_out.row_warnings", lambda rows: ["mind"])
    answer = command(samekind, two_rooms, tmp_path / "runs", "--select-on-test")
    assert "selected on test" in answer.out
    assert "careful (triplet): mind\n" in answer.err


def test_a_run_may_choose_on_the_domain_left_out(samekind, two_rooms, tmp_path):
    answer = command(samekind, two_rooms, tmp_path / "runs", "--set", "select_on=test", "--json")
    assert {row["note"] for row in json.loads(answer.out)["systems"]["triplet"]} == {"selected on test"}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (("split.seed=9",), "leave out split.seed"),
        (("split.seed=0",), "leave out split.seed"),
        (("split.by=group", "split.unseen=half"), "leave out split.by, split.unseen"),
        (("split.by=random", "split.validation_classes=1"), "leave out split.validation_classes"),
    ],
)
def test_refuses_a_split_that_the_plan_names(samekind, two_rooms, tmp_path, changes, named):
    """The domains make the split; what is said about another would do nothing."""
    options = [word for change in changes for word in ("--set", change)]
    answer = command(samekind, two_rooms, tmp_path / "runs", *options)
    assert answer.status == 2
    assert answer.err.endswith(f"{named}\n")
    assert not (tmp_path / "runs").exists()


def test_accepts_the_random_split_of_a_new_run_file(samekind, tmp_path):
    answer = command(samekind, "digits", tmp_path / "runs", "--set", "split.by=random")
    assert "expected items of two domains or more" in answer.err


def test_tasks_are_as_large_as_the_smallest_run_allows(samekind, tmp_path):
    """Three rooms of 8 pictures a class: 12 are left to train on, where a task would take 17."""
    labels, rooms = np.tile(np.arange(3), 24), np.repeat([0, 1, 2], 24)
    inputs = np.random.default_rng(0).integers(0, 256, (72, 1, 8, 8)).astype("uint8")
    np.savez(tmp_path / "rooms.npz", inputs=inputs, labels=labels, domains=rooms)
    answer = samekind(
        *("leave-one-out", "proto-dr", "--data", tmp_path / "rooms.npz", "--out", tmp_path / "runs"),
        *("--set", "epochs=1", "--set", "batches.steps=1", "--tasks", "2", "--json"),
    )
    assert answer.status == 0, answer.err
    batches = RunFolder(tmp_path / "runs/0").run().batches.arguments
    assert (batches["way"], batches["shot"], batches["queries"]) == (3, 1, 11)


def test_refuses_items_without_domains_and_says_how_to_give_them(samekind, tmp_path):
    answer = command(samekind, "digits", tmp_path / "runs")
    assert answer.status == 2
    assert (
        "expected items of two domains or more, to leave one out; the domain of an item is in the column"
        in answer.err
    )
    assert 'data.domain="folder"' in answer.err


@pytest.mark.parametrize(("trained_on", "few"), [(47, False), (48, False), (49, True)])
def test_the_smallest_run_decides_what_suits_all(samekind, tmp_path, monkeypatch, trained_on, few):
    """Two rooms of 60 and 90 pictures: 48 of the smaller train, whatever parts they came in."""
    labels, rooms = np.tile(np.arange(3), 50), np.repeat([0, 1], [60, 90])
    inputs = np.random.default_rng(0).integers(0, 256, (150, 1, 8, 8)).astype("uint8")
    path = tmp_path / "rooms.npz"
    np.savez(path, inputs=inputs, labels=labels, domains=rooms, parts=np.repeat(["train", "test"], [20, 130]))
    monkeypatch.setattr("samekind.recipes.few_items.FEW", trained_on)
    answer = command(samekind, path, tmp_path / "runs", "--json")
    assert answer.status == 0, answer.err
    content = [line for line in answer.err.splitlines() if "few items" in line]
    assert [line.partition(" it takes ")[0] for line in content] == (
        ["triplet: with few items to train on"] if few else []  # once, not for each domain
    )
    for domain in "01":
        run = json.loads((tmp_path / "runs" / domain / "run.json").read_text())
        assert (run["optimiser"]["name"] == "Adam") == few

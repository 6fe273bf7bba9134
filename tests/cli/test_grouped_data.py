"""Data with groups, from end to end: kept together, torn only by name and with a word, and never compared
with themselves.
"""

import csv
import json
import shutil

import numpy as np
import pytest

from samekind.data import open_data
from samekind.recipes.plans import read_plan
from samekind.training import RunFolder, build_space

TORN = "groups have items in more than one part, so that test items are nearer to training items"
EPOCHS = ("--set", "epochs=2", "--device", "cpu")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Four near-copies in a group, groups at random: nothing is to be learned about the classes."""
    path = tmp_path_factory.mktemp("grouped") / "copies.csv"
    generator = np.random.default_rng(1)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["label", "group", *"abcdef"])
        for group in range(90):
            centre = generator.normal(size=6)
            for _ in range(4):
                row = np.round(centre + 0.02 * generator.normal(size=6), 4)
                writer.writerow([f"c{group % 3}", group, *row])
    return path


@pytest.fixture(scope="module")
def runs(samekind, table, tmp_path_factory):
    """A run without a word about the split, and one that was asked to split at random."""
    folder = tmp_path_factory.mktemp("runs")
    plain = samekind("train", "triplet", "--data", table, "--out", folder / "plain", *EPOCHS)
    at_random = ("--out", folder / "random", "--split", "random")
    torn = samekind("train", "triplet", "--data", table, *at_random, *EPOCHS)
    assert (plain.status, torn.status) == (0, 0)
    return folder, plain, torn


def test_groups_stay_together_by_default_and_check_says_so(samekind, table):
    said = samekind("check", table)
    assert "Split (group, no group in two parts): train 216 items of 3 classes" in said.out
    assert TORN not in said.out
    content = json.loads(samekind("check", table, "--json", "--split", "random").out)
    assert content["training"]["split"] == "random"
    assert [line for line in content["warnings"] if TORN in line]
    assert "warnings" not in content["training"]


def test_train_warns_of_torn_groups_only(runs):
    folder, plain, torn = runs
    assert TORN not in plain.err
    assert f"of 90 {TORN}" in " ".join(torn.err.split())
    assert RunFolder(folder / "plain").sets().torn() == ""


def test_random_labels_are_evaluated_at_chance(samekind, runs):
    folder, *_ = runs
    plain = json.loads(samekind("evaluate", folder / "plain", "--json", "--tasks", 40).out)
    rows = {(row["question"], row["measure"], row["kind"]): row for row in plain["systems"]["plain"]}
    assert rows["retrieval", "Recall@1", "similarity"]["value"] < 0.6
    assert rows["reference", "Recall@1", "nearest raw input"]["value"] < 0.6
    assert rows["verification", "EER", "similarity"]["value"] > 0.35
    assert rows["few-shot", "3-way 5-shot", "similarity"]["value"] < 0.5
    for question in ("verification", "retrieval", "few-shot"):
        assert {row["note"] for key, row in rows.items() if key[0] == question} == {"own group left out"}
    assert not [line for line in plain["warnings"]["plain"] if TORN in line]
    torn = json.loads(samekind("evaluate", folder / "random", "--json", "--tasks", 40).out)
    assert TORN in torn["warnings"]["random"][0]
    both = json.loads(
        samekind("evaluate", folder / "random", "--against", folder / "random", "--json", "--tasks", 5).out
    )
    assert TORN in both["warnings"][0]


def test_thresholds_leave_out_pairs_of_one_group_and_say_so(samekind, runs, tmp_path):
    folder, *_ = runs
    shutil.copytree(folder / "plain", tmp_path / "plain")
    content = json.loads(samekind("calibrate", tmp_path / "plain", "--json").out)
    assert "own group left out" in content["decisions"]["similarity"]["trials"]
    stored = json.loads((folder / "plain" / "space" / "space.json").read_text())
    assert "own group left out" in json.dumps(stored["decisions"])


def test_groups_of_new_data_are_not_compared_with_themselves(samekind, table, runs, tmp_path):
    folder, *_ = runs
    shutil.copytree(folder / "plain", tmp_path / "plain")
    shutil.copy(table, tmp_path / "new.csv")
    content = json.loads(samekind("calibrate", tmp_path / "plain", tmp_path / "new.csv", "--json").out)
    assert content["decisions"]["similarity"]["trials"].startswith("new.csv, own group left out: ")
    command = ("evaluate", tmp_path / "plain", "--data", tmp_path / "new.csv", "--tasks", 5, "--json")
    rows = json.loads(samekind(*command).out)["systems"]["plain"]
    assert {row["note"] for row in rows if row["question"] == "retrieval"} == {"own group left out"}


def test_an_old_run_split_at_random_goes_on_with_its_split(samekind, table, runs, tmp_path):
    """The folder says how it was split; the command that once made it says nothing."""
    folder, *_ = runs
    shutil.copytree(folder / "random", tmp_path / "before")
    command = ("train", "triplet", "--data", table, "--out", tmp_path / "before")
    assert samekind(*command, *EPOCHS).status == 0
    for name in ("data.json", "split.json"):
        assert (tmp_path / "before" / name).read_text() == (folder / "random" / name).read_text()
    # One that was stopped says only which items it trains on.
    for name in ("data.json", "split.json"):
        (tmp_path / "before" / name).unlink()
    shutil.rmtree(tmp_path / "before" / "space")
    assert samekind(*command, *EPOCHS).status == 0
    for name in ("data.json", "split.json"):
        assert (tmp_path / "before" / name).read_text() == (folder / "random" / name).read_text()
    other = samekind(*command, "--split", "group", *EPOCHS)
    assert "holds a run on other data or another split" in " ".join(other.err.split())


def test_a_finished_run_keeps_its_split(table, tmp_path):
    plan, items = read_plan("triplet", source=str(table)), open_data(table)
    folder = RunFolder(tmp_path)
    dealt = plan.sets(folder, items, seed=0)
    folder.finish(build_space(plan.run(items.shape), dealt.train), dealt)
    moved = dict(dealt.split.parts)
    moved["train"], moved["test"] = moved["test"], moved["train"]
    type(dealt.split)(parts=moved, fingerprint=dealt.split.fingerprint).save(tmp_path / "split.json")
    again = plan.sets(folder, items, seed=0)
    assert again.train.ids == dealt.test.ids
    assert again.test.ids == dealt.train.ids


def test_a_stopped_training_keeps_its_split(samekind, table, runs, tmp_path):
    folder, *_ = runs
    shutil.copytree(folder / "plain", tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "space")
    (tmp_path / "run" / "data.json").unlink()
    plan, items = read_plan("triplet", source=str(table)), open_data(table)
    stored = json.loads((tmp_path / "run" / "split.json").read_text())
    moved = dict(stored["parts"], test=stored["parts"]["validation"], validation=stored["parts"]["test"])
    (tmp_path / "run" / "split.json").write_text(json.dumps(stored | {"parts": moved}))
    sets = plan.sets(RunFolder(tmp_path / "run"), items, seed=0)
    assert sets.split.parts["test"].tolist() == moved["test"]
    other = samekind(
        "train", "triplet", "--data", table, "--out", tmp_path / "run", "--split", "random", *EPOCHS
    )
    assert "holds a run on other data or another split" in " ".join(other.err.split())
    # One from before groups were dealt as they are now has no split, and other items to train on.
    (tmp_path / "run" / "split.json").unlink()
    command = ("train", "triplet", "--data", table, "--out", tmp_path / "run", *EPOCHS)
    assert samekind(*command).status == 0
    (tmp_path / "run" / "split.json").unlink()
    (tmp_path / "run" / "data.json").unlink()
    before = samekind(*command, "--set", "split.seed=5")
    assert before.status != 0
    assert "remove this one to start again" in " ".join(before.err.split())


def test_ignores_the_split_of_a_refused_command(table, tmp_path):
    plan, items = read_plan("triplet", source=str(table)), open_data(table)
    folder = RunFolder(tmp_path)
    dealt = plan.sets(folder, items, seed=0)
    dealt.split.save(tmp_path / "split.json")
    assert folder.begun_split(items) is None
    assert plan.sets(folder, items, seed=1).train.ids != dealt.train.ids


def test_published_parts_of_other_classes_are_trained_and_tested_on(samekind, tmp_path):
    """As retrieval is published: the classes of the test part are not those of the training part."""
    path, generator = tmp_path / "people.csv", np.random.default_rng(0)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["label", "split", *"abcd"])
        for person in range(12):
            centre = generator.normal(size=4)
            for _ in range(10):
                row = np.round(centre + 0.3 * generator.normal(size=4), 4)
                writer.writerow([f"p{person}", "train" if person < 6 else "test", *row])
    trained = samekind("train", "triplet", "--data", path, "--out", tmp_path / "run", *EPOCHS)
    assert trained.status == 0
    content = json.loads(samekind("evaluate", tmp_path / "run", "--json", "--tasks", 5).out)
    rows = {(row["question"], row["measure"]): row for row in content["systems"]["run"]}
    assert rows["retrieval", "Recall@1"]["items"] == "seen"
    assert len(RunFolder(tmp_path / "run").sets().test) == 60

"""Data looked at before it is used, and the folders of runs."""

import json
import re
import shutil
from pathlib import Path

import pytest
import torch

from samekind.cli.experiments import (
    begin_folder,
    finish_folder,
    open_items,
    say_trained_on,
    sets_of,
    space_folder,
    trained_on,
)
from samekind.cli.plans import read_plan
from samekind.data import digits, prepare
from samekind.errors import DataError, SettingError, SpaceError


def plan(unseen=("7", "8"), **more):
    return read_plan("triplet", split={"unseen": list(unseen)}, **more)


def same_items(one, other):
    return torch.equal(one.inputs, other.inputs) and torch.equal(one.labels, other.labels)


# --- data -------------------------------------------------------------------------------------------


def test_named_data_is_opened_without_a_word(capsys):
    assert len(open_items(plan())) == 1797
    assert capsys.readouterr() == ("", "")


def test_a_folder_of_the_same_name_is_not_what_is_opened_and_that_is_said(tmp_path, monkeypatch, capsys):
    (tmp_path / "digits").mkdir()
    monkeypatch.chdir(tmp_path)
    assert len(open_items(plan())) == 1797
    assert "for the one in this folder say ./digits" in capsys.readouterr().err


def test_what_may_be_wrong_is_said_and_what_is_wrong_refused(tmp_path, capsys):
    table = tmp_path / "flowers.csv"
    table.write_text("petal,label\n1.5,rose\n2.0,Rose\n2.5,rose\n0.5,Rose\n")
    open_items(read_plan("triplet", source=str(table)))
    said = " ".join(capsys.readouterr().err.split())
    assert 'flowers.csv: the classes "Rose" and "rose" differ only by case or spaces' in said
    table.write_text("petal,label\n1.5,rose\n2.0,rose\n")
    with pytest.raises(DataError, match=r'flowers.csv: there is one class only, "rose"'):
        open_items(read_plan("triplet", source=str(table)))


def test_what_pictures_take_is_said_before_they_are_decoded(folders, monkeypatch, capsys):
    from samekind.cli import experiments

    monkeypatch.setattr(experiments, "WORTH_SAYING", 1)
    open_items(read_plan("triplet", source=str(folders)))
    assert re.match(r"decoding into memory: 0 MiB\n", capsys.readouterr().err)
    open_items(read_plan("triplet", source=str(folders), data={"memory": "never"}))
    said = " ".join(capsys.readouterr().err.split())
    assert said.endswith("stay on the disk and are decoded anew in every epoch")
    open_items(read_plan("triplet", source=str(folders), data={"memory_limit": 1}))
    said = " ".join(capsys.readouterr().err.split())
    assert "in every epoch, or once onto a GPU that has room for them; --set data.memory=always keeps" in said
    open_items(read_plan("triplet", ["data.memory=always"], source=str(folders), data={"memory_limit": 1}))
    assert "decoding into memory" in capsys.readouterr().err


# --- folders ----------------------------------------------------------------------------------------


def test_the_sets_of_a_run_are_those_it_was_trained_on(tmp_path):
    begun = begin_folder(tmp_path / "run", plan(), digits(), seed=3)
    begun.split.save(tmp_path / "run" / "split.json")  # as training does
    finish_folder(tmp_path / "run", plan(), digits(), seed=3)
    wanted = prepare(digits(), unseen=["7", "8"], seed=3)
    for sets in (begun, sets_of(tmp_path / "run"), begin_folder(tmp_path / "run", plan(), digits(), seed=3)):
        for name in ("train", "validation", "test", "unseen"):
            assert same_items(getattr(sets, name), getattr(wanted, name))


def test_beginning_writes_nothing(tmp_path):
    begin_folder(tmp_path / "run", plan(), digits(), seed=3)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("later", ["cut_from", "white"])
def test_a_run_from_before_a_setting_was_there_is_the_same(tmp_path, later):
    finish_folder(tmp_path, plan(), digits(), seed=3)
    written = json.loads((tmp_path / "data.json").read_text())
    del written["data"][later]
    (tmp_path / "data.json").write_text(json.dumps(written))
    begin_folder(tmp_path, plan(), digits(), seed=3)


@pytest.mark.parametrize(
    ("other", "seed"), [(plan(["7", "9"]), 3), (plan([]), 3), (plan(), 4), (plan(data={"size": 8}), 3)]
)
def test_the_folder_of_another_split_is_refused(tmp_path, other, seed):
    finish_folder(tmp_path, plan(), digits(), seed=3)
    with pytest.raises(SettingError, match="holds a run on other data or another split"):
        begin_folder(tmp_path, other, digits(), seed=seed)


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(SpaceError, match=r"not the folder of a finished run: it has no data\.json"):
        sets_of(tmp_path)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"{", "is damaged"),
        (b"\xff", "is damaged"),
        (b"[]", "was not written by this samekind"),
        (b"{}", "was not written by this samekind"),
        (b'{"source": 3, "data": {}, "split": {}}', "was not written by this samekind"),
        (b'{"source": "digits", "data": {}}', "was not written by this samekind"),
    ],
)
def test_what_is_not_a_description_of_data_is_refused(tmp_path, content, says):
    (tmp_path / "data.json").write_bytes(content)
    for use in (sets_of, lambda folder: begin_folder(folder, plan(), digits(), seed=0)):
        with pytest.raises(SpaceError, match=rf"data\.json {says}"):
            use(tmp_path)


def test_data_that_went_away_is_named(tmp_path):
    gone = {"source": str(tmp_path / "faces"), "data": {}, "split": {}}
    (tmp_path / "data.json").write_text(json.dumps(gone))
    with pytest.raises(DataError, match=r"was trained on cannot be opened: .*faces"):
        sets_of(tmp_path)


def test_what_a_space_was_trained_on_is_known_in_its_run(trained, tmp_path, monkeypatch):
    assert trained_on(trained, "digits")
    assert trained_on(trained / "space", "digits")
    assert not trained_on(trained, str(tmp_path))
    assert not trained_on(shutil.copytree(trained / "space", tmp_path / "space"), "digits")
    # A file that happens to lie beside a space is no business of ours.
    (tmp_path / "data.json").write_text("[]")
    assert not trained_on(tmp_path / "space", "digits")
    monkeypatch.chdir(trained / "space")
    assert trained_on(Path(), "digits")


def test_which_of_several_were_trained_on_is_said(trained, tmp_path, capsys):
    say_trained_on(trained, [str(tmp_path), "digits"])
    assert capsys.readouterr().err == (
        "careful: digits holds the items this space was trained on, and those it knows better than any "
        "others: of new ones expect less; samekind evaluate asks about the test items of the run\n"
    )
    say_trained_on(trained, [str(tmp_path)])
    assert capsys.readouterr() == ("", "")


def stopped(trained, folder, epochs):
    """What a training leaves that was stopped after some of its two epochs."""
    kept = ("run.json", "last.pt", "best.pt") if epochs else ("run.json",)
    folder.mkdir()
    for name in kept:
        shutil.copy(trained / name, folder)
    lines = (trained / "record.jsonl").read_text().splitlines(keepends=True)
    (folder / "record.jsonl").write_text("".join(lines[:epochs]))
    return folder


@pytest.mark.parametrize("epochs", [0, 1, 2])
def test_a_training_that_has_not_ended_is_told_as_one(samekind, trained, tmp_path, epochs):
    run = stopped(trained, tmp_path / "run", epochs)
    says = (
        f"samekind: {run} holds a training that has not ended: {epochs} of 2 epochs are done; the same "
        "samekind train command goes on with it\n"
    )
    commands = (("evaluate", run), ("info", run), ("calibrate", run), ("novelty", "digits", "--space", run))
    for command in commands:
        assert samekind(*command) == (2, "", says)


def test_a_stopped_training_goes_on_by_the_same_command(again, samekind, trained, tmp_path):
    run = stopped(trained, tmp_path / "run", 1)
    assert again(run).status == 0
    assert samekind("info", run).status == 0


@pytest.mark.parametrize("content", ["no JSON", "[]", "{}"])
def test_what_is_no_run_of_ours_is_refused_as_before(tmp_path, content):
    (tmp_path / "run.json").write_text(content)
    assert space_folder(tmp_path) == tmp_path
    with pytest.raises(SpaceError, match=r"is not the folder of a finished run: it has no data\.json"):
        sets_of(tmp_path)


def test_a_space_is_found_in_its_run_and_by_itself(trained, tmp_path):
    assert space_folder(trained) == trained / "space"
    assert space_folder(trained / "space") == trained / "space"
    assert space_folder(tmp_path) == tmp_path


def test_a_space_that_a_killed_save_left_aside_is_found_in_its_run(trained, tmp_path):
    """Before, it was found by its own name alone: that of its run was said to hold no space."""
    shutil.copytree(trained / "space", tmp_path / ".space.old")
    assert space_folder(tmp_path) == tmp_path / "space"
    assert [each.name for each in tmp_path.iterdir()] == ["space"]

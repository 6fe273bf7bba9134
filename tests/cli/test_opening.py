"""Opening the items of a plan: warnings, errors, and the memory they take."""

import re

import pytest

from samekind.cli.opening import open_items
from samekind.errors import DataError, SettingError
from samekind.recipes.plans import read_plan


def plan(unseen=("7", "8"), **more):
    return read_plan("triplet", split={"unseen": list(unseen)}, **more)


def test_opening_named_data_prints_nothing(capsys):
    assert len(open_items(plan())) == 1797
    assert capsys.readouterr() == ("", "")


def test_one_unseen_class_is_refused_and_a_branch_of_several_is_not():
    with pytest.raises(SettingError, match="--unseen needs two classes or more"):
        open_items(plan(unseen=["7"]))
    assert len(open_items(plan(unseen=["Greek"], source="characters/Greek,Latin"))) == 1000


def test_warns_of_a_folder_with_the_name_of_known_data(tmp_path, monkeypatch, capsys):
    (tmp_path / "digits").mkdir()
    monkeypatch.chdir(tmp_path)
    assert len(open_items(plan())) == 1797
    assert "for the one in this folder say ./digits" in capsys.readouterr().err


def test_prints_warnings_and_refuses_errors(tmp_path, capsys):
    table = tmp_path / "flowers.csv"
    table.write_text("petal,label\n1.5,rose\n2.0,Rose\n2.5,rose\n0.5,Rose\n")
    open_items(read_plan("triplet", source=str(table)))
    said = " ".join(capsys.readouterr().err.split())
    assert 'flowers.csv: the classes "Rose" and "rose" differ only by case or spaces' in said
    table.write_text("petal,label\n1.5,rose\n2.0,rose\n")
    with pytest.raises(DataError, match=r'flowers.csv: there is one class only, "rose"'):
        open_items(read_plan("triplet", source=str(table)))


def test_prints_the_memory_of_pictures_before_they_are_decoded(folders, monkeypatch, capsys):
    from samekind.cli import opening

    monkeypatch.setattr(opening, "WORTH_SAYING", 1)
    open_items(read_plan("triplet", source=str(folders)))
    assert re.match(r"decoding into memory: 0 MiB\n", capsys.readouterr().err)
    open_items(read_plan("triplet", source=str(folders), data={"memory": "never"}))
    said = " ".join(capsys.readouterr().err.split())
    assert said.endswith("stay on the disk and are decoded anew in every epoch")
    open_items(read_plan("triplet", source=str(folders), data={"memory_limit": 1}))
    said = " ".join(capsys.readouterr().err.split())
    assert "in every epoch, or once onto a GPU with enough memory; --set data.memory=always keeps" in said
    open_items(read_plan("triplet", ["data.memory=always"], source=str(folders), data={"memory_limit": 1}))
    assert "decoding into memory" in capsys.readouterr().err

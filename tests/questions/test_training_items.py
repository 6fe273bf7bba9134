"""Opening the items of a plan: warnings, errors, and the memory they take."""

import pytest
import torch

from samekind.data import write_image
from samekind.errors import DataError, SettingError
from samekind.questions import training_items
from samekind.questions.training_items import open_items
from samekind.recipes.plans import read_plan


def plan(unseen=("7", "8"), **more):
    return read_plan("triplet", split={"unseen": list(unseen)}, **more)


@pytest.fixture
def warnings():
    return []


@pytest.fixture
def opened(warnings):
    return lambda plan: open_items(plan, warn=warnings.append)


def test_named_data_needs_no_warning(opened, warnings):
    assert len(opened(plan())) == 1797
    assert warnings == []


def test_one_unseen_class_is_refused_and_a_branch_of_several_is_not():
    with pytest.raises(SettingError, match="--unseen needs two classes or more"):
        open_items(plan(unseen=["7"]))
    assert len(open_items(plan(unseen=["Greek"], source="characters/Greek,Latin"))) == 1000


def test_warns_of_a_folder_with_the_name_of_known_data(opened, warnings, tmp_path, monkeypatch):
    (tmp_path / "digits").mkdir()
    monkeypatch.chdir(tmp_path)
    assert len(opened(plan())) == 1797
    [said] = warnings
    assert "for the one in this folder say ./digits" in said


def test_tells_warnings_and_refuses_errors(opened, warnings, tmp_path):
    table = tmp_path / "flowers.csv"
    table.write_text("petal,label\n1.5,rose\n2.0,Rose\n2.5,rose\n0.5,Rose\n")
    opened(read_plan("triplet", source=str(table)))
    assert 'flowers.csv: the classes "Rose" and "rose" differ only by case or spaces' in " ".join(warnings)
    table.write_text("petal,label\n1.5,rose\n2.0,rose\n")
    with pytest.raises(DataError, match=r'flowers.csv: there is one class only, "rose"'):
        opened(read_plan("triplet", source=str(table)))


def test_tells_the_memory_of_pictures_before_they_are_decoded(opened, warnings, tmp_path, monkeypatch):
    for name in ("a/1.png", "a/2.png", "b/1.png", "b/2.png"):
        write_image(tmp_path / name, torch.rand(1, 8, 8))
    monkeypatch.setattr(training_items, "WORTH_SAYING", 1)

    def said(changes=(), **data):
        warnings.clear()
        opened(read_plan("triplet", changes, source=str(tmp_path), data=data))
        return warnings[0]

    assert said() == "decoding into memory: 0 MiB"
    assert said(memory="never").endswith("stay on the disk and are decoded anew in every epoch")
    assert "in every epoch, or once onto a GPU with enough memory; --set data.memory=al" in said(
        memory_limit=1
    )
    assert said(["data.memory=always"], memory_limit=1) == "decoding into memory: 0 MiB"

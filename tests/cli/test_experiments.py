"""Named data, runs by name or file, and the folders of runs."""

import json

import pytest
import torch

from samekind import recipes
from samekind.cli import experiments
from samekind.cli.experiments import begin_folder, finish_folder, open_data, run_named, sets_of, space_folder
from samekind.data import digits, prepare
from samekind.errors import DataError, SettingError, SpaceError

SHAPE = (1, 8, 8)
SPLIT = {"data": "digits", "unseen": ["7", "8"], "seed": 3}


def same_items(one, other):
    return torch.equal(one.inputs, other.inputs) and torch.equal(one.labels, other.labels)


@pytest.fixture
def run_file(tmp_path):
    def write(text):
        path = tmp_path / "run.toml"
        path.write_text(text)
        return str(path)

    return write


@pytest.mark.parametrize("name", experiments.DATA)
def test_every_data_set_can_be_opened(name):
    assert len(open_data(name)) > 0


def test_unknown_data_is_answered_with_the_nearest():
    with pytest.raises(DataError, match='no data "digit"; did you mean "digits"'):
        open_data("digit")


# --- runs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", recipes.RECIPES)
def test_a_recipe_by_its_name_is_the_recipe(name):
    assert run_named(name, SHAPE, []) == getattr(recipes, name)(SHAPE)


def test_changes_go_before_the_file_and_the_file_before_the_recipe(run_file):
    path = run_file('recipe = "triplet"\nepochs = 5\nclip = 1.0\n[terms.triplet]\nmargin = 0.5\n')
    run = run_named(path, SHAPE, ["epochs=6"])
    assert (run.recipe, run.epochs, run.clip) == ("triplet", 6, 1.0)
    assert run.terms["triplet"].arguments["margin"] == 0.5
    assert run.terms["auxiliary"] == recipes.triplet(SHAPE).terms["auxiliary"]


@pytest.mark.parametrize(
    ("in_file", "option", "change", "seed"),
    [
        ("", None, [], 0),
        ("seed = 1", None, [], 1),
        ("seed = 1", 2, [], 2),
        ("seed = 1", 0, [], 0),
        ("seed = 1", 2, ["seed=3"], 3),
    ],
)
def test_where_the_seed_comes_from(run_file, in_file, option, change, seed):
    run = run_named(run_file(f'recipe = "triplet"\n{in_file}\n'), SHAPE, change, seed=option)
    assert run.seed == seed


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_not_everything_takes_is_refused(run_file, seed):
    with pytest.raises(SettingError, match=f"run.seed: .* from 0 to 4294967295, got {seed}"):
        run_named(run_file(f'recipe = "triplet"\nseed = {seed}'), SHAPE, [])


# --- folders ----------------------------------------------------------------------------------------


def test_the_sets_of_a_run_are_those_it_was_trained_on(tmp_path):
    begun = begin_folder(tmp_path / "run", **SPLIT)
    begun.split.save(tmp_path / "run" / "split.json")  # as training does
    finish_folder(tmp_path / "run", **SPLIT)
    wanted = prepare(digits(), unseen=["7", "8"], seed=3)
    for sets in (begun, sets_of(tmp_path / "run"), begin_folder(tmp_path / "run", **SPLIT)):
        for name in ("train", "validation", "test", "unseen"):
            assert same_items(getattr(sets, name), getattr(wanted, name))


def test_beginning_writes_nothing(tmp_path):
    begin_folder(tmp_path / "run", **SPLIT)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("change", [{"unseen": ["7", "9"]}, {"unseen": []}, {"seed": 4}])
def test_the_folder_of_another_split_is_refused(tmp_path, change):
    finish_folder(tmp_path, **SPLIT)
    with pytest.raises(SettingError, match="holds a run on other data or another split"):
        begin_folder(tmp_path, **{**SPLIT, **change})


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(SpaceError, match=r"not the folder of a finished run: it has no data\.json"):
        sets_of(tmp_path)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"{", "is damaged"),
        (b"\xff", "is damaged"),
        (b"[]", "was not written by samekind"),
        (b"{}", "was not written by samekind"),
        (b'{"data": 3}', "was not written by samekind"),
    ],
)
def test_what_is_not_a_description_of_data_is_refused(tmp_path, content, says):
    (tmp_path / "data.json").write_bytes(content)
    for use in (sets_of, lambda folder: begin_folder(folder, **SPLIT)):
        with pytest.raises(SpaceError, match=rf"data\.json {says}"):
            use(tmp_path)


def test_data_from_elsewhere_is_refused_by_name(tmp_path):
    (tmp_path / "data.json").write_text(json.dumps({**SPLIT, "data": "faces"}))
    with pytest.raises(DataError, match='no data "faces"'):
        sets_of(tmp_path)


def test_a_space_is_found_in_its_run_and_by_itself(trained, tmp_path):
    assert space_folder(trained) == trained / "space"
    assert space_folder(trained / "space") == trained / "space"
    assert space_folder(tmp_path) == tmp_path

"""A plan carried out, and what is told of it; what it leaves in its folder is tested with the command."""

import pytest

from samekind.errors import SettingError
from samekind.questions.train import TrainingReports, train
from samekind.recipes.plans import read_plan
from samekind.training import RunFolder

CHANGES = ("epochs=2", "optimiser.rate=0.05", "schedule.name=constant")


@pytest.fixture
def reports():
    """Who hears of a training: two lists of sentences, and the titles and notes of watchers."""
    said = {"warned": [], "told": [], "watched": []}

    def watched(title, note):
        said["watched"].append((title, note))

    return said, TrainingReports(said["warned"].append, said["told"].append, watched)


@pytest.fixture
def table(tmp_path):
    """Points of two classes, ten each, far from each other."""
    rows = [f"{9 * (place % 2)},{place / 100},{'ab'[place % 2]}" for place in range(40)]
    path = tmp_path / "points.csv"
    path.write_text("\n".join(["x,y,label", *rows, ""]))
    return path


def test_a_paper_is_trained_for_its_epochs(table, tmp_path, reports):
    said, hearers = reports
    plan = read_plan("triplet", CHANGES, source=str(table))
    answer = train(plan, tmp_path / "run", device="cpu", reports=hearers)
    assert (answer.recipe, answer.epochs, answer.classes) == ("triplet", 2, ("a", "b"))
    assert 20 < answer.items < 40
    assert (answer.ladder, answer.saved) == (None, tmp_path / "run" / "space")
    assert answer.best.number in (1, 2)
    assert answer.to_json()["best"]["epoch"] == answer.best.number
    assert [title for title, _ in said["watched"]] == ["triplet"]
    assert (said["warned"], said["told"]) == ([], [])


def test_the_house_recipe_tells_its_rungs(table, tmp_path, reports):
    said, hearers = reports
    answer = train(read_plan("house", source=str(table)), tmp_path / "run", minutes=0, reports=hearers)
    assert answer.ladder.kept in [rung.name for rung in answer.ladder.rungs]
    assert said["told"][0].startswith("The rungs are measured on ")
    assert answer.to_json()["ladder"]["kept"] == answer.ladder.kept


def test_options_of_the_other_recipe_are_refused(tmp_path):
    with pytest.raises(SettingError, match="--minutes is for the house recipe"):
        train(read_plan("triplet"), tmp_path / "run", minutes=1)
    with pytest.raises(SettingError, match="--from goes on with the training of a paper's recipe"):
        train(read_plan("house"), tmp_path / "run", start=tmp_path)
    assert not (tmp_path / "run").exists()


def test_tasks_are_as_large_as_the_items_to_train_on_allow(table, tmp_path):
    """Twenty items of a class are enough for 1 example and 16 queries, but only twelve of them train."""
    plan = read_plan("proto-dr", ["epochs=1", "batches.steps=2"], source=str(table))
    assert train(plan, tmp_path / "run", device="cpu").epochs == 1
    assert RunFolder(tmp_path / "run").run().batches.arguments["queries"] == 11

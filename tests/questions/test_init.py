"""A run file for data: what it says, for which purpose, and what is refused before anything is read."""

import pytest

from samekind.errors import SettingError
from samekind.questions.init import PURPOSES, columns_without_label, expect_free, recipe_for, write_run_file
from samekind.recipes import RECIPES
from samekind.recipes.plans import read_plan


def test_the_file_is_the_plan(tmp_path):
    plan = read_plan("triplet", source="digits", training={"epochs": 3})
    answer = write_run_file(tmp_path / "run.toml", plan)
    assert (answer.recipe, answer.items, len(answer.classes)) == ("triplet", 1797, 10)
    again = read_plan(str(tmp_path / "run.toml"))
    assert (again.recipe, again.source, again.run((1, 8, 8)).epochs) == ("triplet", "digits", 3)


def test_a_purpose_or_a_recipe_has_its_name():
    assert set(PURPOSES.values()) <= set(RECIPES)
    assert [recipe_for(name) for name in ("baseline", "verification")] == ["triplet", "verification"]
    with pytest.raises(SettingError, match='there is no "basline"; did you mean "baseline"'):
        recipe_for("basline")


def test_a_file_that_exists_is_replaced_only_if_asked_for(tmp_path):
    path = tmp_path / "run.toml"
    expect_free(path, replace=False)
    path.write_text("")
    with pytest.raises(SettingError, match="exists already"):
        expect_free(path, replace=False)
    expect_free(path, replace=True)
    with pytest.raises(SettingError, match=r"ends in \.toml; got run\.txt"):
        expect_free(tmp_path / "run.txt", replace=True)


def test_columns_are_named_where_none_is_the_label(tmp_path):
    table = tmp_path / "a.csv"
    table.write_text("x,species\n1,a\n2,b\n")
    assert columns_without_label(str(table)) == ("x", "species")
    table.write_text("x,label\n1,a\n2,b\n")
    assert columns_without_label(str(table)) == columns_without_label("digits") == ()

"""The text of a run file is read back as the plan that it was made from."""

import pytest

from samekind.data import clusters
from samekind.recipes.plans import read_plan
from samekind.recipes.run_file import run_file


@pytest.mark.parametrize("recipe", ["house", "triplet", "prototypical", "unseen-proxy-nca-adapt-adv"])
def test_a_file_gives_the_plan_again(recipe, tmp_path):
    items = clusters(classes=6, items=30, dimension=5, seed=0)
    split = {"unseen": list(items.classes[:2])}
    plan = read_plan(recipe, source="digits", split=split, training={"epochs": 3})
    path = tmp_path / "run.toml"
    path.write_text(run_file(plan, items, path), encoding="utf-8")
    again = read_plan(str(path))
    assert (again.recipe, again.source, again.data) == (recipe, "digits", plan.data)
    assert again.splitting(items, seed=0).unseen == plan.splitting(items, seed=0).unseen
    assert again.run(items).epochs == 3


def test_a_source_is_named_from_the_folder_of_the_file(tmp_path):
    data = tmp_path / "data" / "flowers"
    plan = read_plan("triplet", source=str(data))
    text = run_file(plan, clusters(classes=3, items=9, dimension=2, seed=0), tmp_path / "run.toml")
    assert 'source = "data/flowers"' in text

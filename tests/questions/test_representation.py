"""The question of feature spaces: budgets in words, and runs on other data are refused."""

import pytest
import torch

from samekind.data import SplitSettings, clusters, prepare
from samekind.errors import DataError, SettingError
from samekind.questions.representation import Trained, draw_budgets, draw_representation, representation
from samekind.recipes import prototypical
from samekind.training import build_space


@pytest.fixture
def trained():
    def one(name, *settings, seed=0):
        sets = prepare(clusters(classes=4, items=20, dimension=5, seed=seed), SplitSettings(seed=0))
        run = prototypical(sets.train).override(settings)
        torch.manual_seed(len(name))
        return Trained(name, build_space(run, sets.train).eval(), sets, run)

    return one


def test_every_space_has_its_measures_and_its_budget(trained):
    spaces = [trained("plain"), trained("hard", "defence.epsilon=8/255"), trained("round", "defence.norm=l2")]
    answer = representation(spaces, limit=30)
    assert tuple(map(str, answer.budgets)) == ("none", "linf 8/255", "l2 8/255")
    assert set(answer.inputs) == {"input, l2", "input, linf"}
    content = answer.to_json()
    assert [space["name"] for space in content["spaces"]] == ["plain", "hard", "round"]
    assert content["points"] == 30
    assert "Pearson" in content["correlations with MC l2"]["phi"]


def test_a_picture_says_how_a_space_was_trained_and_that_it_is_re_weighted(trained, tmp_path):
    spaces = [trained("plain"), trained("hard", "defence.epsilon=8/255")]
    for power, words in ((0.0, "against linf 8/255)"), (1.0, "against linf 8/255, power 1)")):
        draw_representation(tmp_path / "spaces.svg", representation(spaces, limit=30, power=power))
        picture = (tmp_path / "spaces.svg").read_text(encoding="utf-8")
        assert words in picture
        assert "plain (undefended" in picture


def test_other_data_are_refused(trained):
    with pytest.raises(DataError, match="other items"):
        representation([trained("one"), trained("two", seed=5)])


def test_budgets_are_drawn_where_there_are_two_of_a_norm(trained, tmp_path):
    plain, one, other = (
        trained("plain"),
        trained("hard", "defence.epsilon=8/255"),
        trained("round", "defence.norm=l2"),
    )
    draw_budgets(tmp_path / "budgets.svg", representation([plain, one], limit=30))
    assert b"epsilon (linf)" in (tmp_path / "budgets.svg").read_bytes()
    with pytest.raises(SettingError, match="got linf 8/255, l2 8/255"):
        draw_budgets(tmp_path / "none.svg", representation([one, other], limit=30))

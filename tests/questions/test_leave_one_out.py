"""Each domain left out: rows and warnings of the recipe; no split but that of the domains."""

import pytest

from samekind.errors import SettingError
from samekind.evaluation import Row
from samekind.questions import leave_one_out as module
from samekind.questions.leave_one_out import leave_one_out
from samekind.recipes.plans import read_plan


def test_rows_and_their_warnings_are_those_of_the_recipe(tmp_path, monkeypatch):
    wrong = Row("open set", "0", "AUROC", "cosine", 0.2, 0.1, 0.3, "items")
    monkeypatch.setattr(module.recipes, "leave_one_out", lambda *_, **__: [wrong])
    answer = leave_one_out(read_plan("triplet"), tmp_path)
    assert (answer.recipe, answer.rows, len(answer.warnings)) == ("triplet", (wrong,), 1)
    assert answer.to_json()["systems"] == {"triplet": [wrong._asdict()]}


def test_a_split_is_refused_but_for_the_usual_one(tmp_path):
    with pytest.raises(SettingError, match=r"leave out split\.by, split\.seed"):
        leave_one_out(read_plan("triplet", split={"by": "group", "seed": 1}), tmp_path)

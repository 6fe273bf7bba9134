"""Options become a plan: what is given overrides the file, what is not is left to it."""

from pathlib import Path

import pytest

from samekind.questions.plan_options import PlanOptions
from samekind.recipes.plans import read_plan

SHAPE = (1, 8, 8)


def test_no_options_leave_everything_to_the_recipe():
    assert PlanOptions().plan("triplet") == read_plan("triplet")


def test_what_is_given_overrides_the_file(tmp_path):
    file = tmp_path / "run.toml"
    file.write_text(
        'recipe = "triplet"\nseed = 3\nepochs = 4\n[data]\nlabel = "a"\nsize = 8\nskip_unreadable = true\n'
        '[split]\nunseen = "half"\n'
    )
    kept = PlanOptions().plan(str(file))
    assert (kept.run(SHAPE).seed, kept.data.label, kept.data.skip_unreadable) == (3, "a", True)
    options = PlanOptions(
        label="b", ignore=("c",), taxonomy=Path("tree.nwk"), unseen=("x", "y"), seed=0, changes=("epochs=6",)
    )
    plan = options.plan(str(file))
    assert (plan.run(SHAPE).seed, plan.run(SHAPE).epochs) == (0, 6)
    assert (plan.data.label, plan.data.size, plan.data.ignore) == ("b", 8, ("c",))
    assert plan.data.taxonomy == "tree.nwk"
    assert plan.split == {"unseen": ["x", "y"]}


@pytest.mark.parametrize("half", ["half", "random-half"])
def test_a_half_is_no_name(half):
    assert PlanOptions(unseen=half).plan("triplet").split == {"unseen": half}


def test_test_domains_make_a_split_by_domain():
    split = PlanOptions(test_domains=("a",), split="random").plan("triplet").split
    assert split == {"by": "domain", "test_domains": ["a"]}

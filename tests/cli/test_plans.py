"""Plans: what a recipe, a run file, the options and --set say together."""

import pytest

from samekind import recipes
from samekind.cli.plans import because_few, chosen_in_words, read_plan
from samekind.data import DataSettings, SplitSettings, digits
from samekind.errors import SettingError
from samekind.recipes.few_items import CHOSEN
from samekind.training import Part

SHAPE = (1, 8, 8)


@pytest.fixture
def run_file(tmp_path):
    def write(text):
        path = tmp_path / "run.toml"
        path.write_text(text)
        return str(path)

    return write


@pytest.mark.parametrize("name", recipes.RECIPES)
def test_a_recipe_by_its_name_is_the_recipe_on_the_digits(name):
    plan = read_plan(name)
    assert plan.run(SHAPE) == recipes.RECIPES[name](SHAPE)
    assert (plan.source, plan.data) == ("digits", DataSettings())


def test_changes_go_before_the_file_and_the_file_before_the_recipe(run_file):
    path = run_file('recipe = "triplet"\nepochs = 5\nclip = 1.0\n[terms.triplet]\nmargin = 0.5\n')
    run = read_plan(path, ["epochs=6"]).run(SHAPE)
    assert (run.recipe, run.epochs, run.clip) == ("triplet", 6, 1.0)
    assert run.terms["triplet"].arguments["margin"] == 0.5
    assert run.terms["auxiliary"] == recipes.triplet(SHAPE).terms["auxiliary"]


def test_the_table_training_is_the_run_and_so_is_its_prefix(run_file):
    top = run_file('recipe = "triplet"\nepochs = 5\n[optimiser]\nrate = 0.5\n')
    first = read_plan(top, ["clip=2.0"]).run(SHAPE)
    inside = run_file('recipe = "triplet"\n[training]\nepochs = 5\n[training.optimiser]\nrate = 0.5\n')
    assert read_plan(inside, ["training.clip=2.0"]).run(SHAPE) == first


def test_the_tables_data_and_split_under_options_under_changes(run_file, tmp_path):
    (tmp_path / "birds").mkdir()
    path = run_file(
        'recipe = "triplet"\n[data]\nsource = "birds"\nsize = 32\nlabel = "a"\n'
        '[split]\nunseen = "half"\nseed = 4\n'
    )
    plan = read_plan(path, ["data.size=16", "split.seed=5"], data={"size": 24, "label": "b"})
    assert plan.source == str(tmp_path / "birds")  # as seen from the file
    assert plan.data == DataSettings(size=16, label="b")
    assert plan.splitting(digits(), seed=9) == SplitSettings(unseen="half", seed=5)
    assert read_plan(path, source="digits").source == "digits"


def test_without_a_word_the_items_parts_are_the_split_and_the_seed_is_the_runs():
    from dataclasses import replace

    given = replace(digits(), parts=("train",) * len(digits()))
    plan = read_plan("triplet")
    assert plan.splitting(given, seed=3) == SplitSettings(by="part", seed=3)
    assert plan.splitting(digits(), seed=3) == SplitSettings(by="random", seed=3)
    assert read_plan("triplet", split={"by": "random"}).splitting(given, seed=3).by == "random"


def test_without_a_word_groups_stay_together_where_there_are_no_parts():
    from dataclasses import replace

    import torch

    grouped = replace(digits(), groups=torch.arange(len(digits())) // 3)
    given = replace(grouped, parts=("train",) * len(digits()))
    plan = read_plan("triplet", split={"validation_classes": 2})
    assert plan.splitting(grouped, seed=3) == SplitSettings(by="group", validation_classes=2, seed=3)
    assert read_plan("triplet").splitting(given, seed=3).by == "part"
    assert read_plan("triplet", split={"by": "random"}).splitting(grouped, seed=3).by == "random"


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
    chosen = {} if option is None else {"seed": option}
    plan = read_plan(run_file(f'recipe = "triplet"\n{in_file}\n'), change, training=chosen)
    assert plan.run(SHAPE).seed == seed


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_not_everything_takes_is_refused(run_file, seed):
    with pytest.raises(SettingError, match=f"run.seed: .* from 0 to 4294967295, got {seed}"):
        read_plan(run_file(f'recipe = "triplet"\nseed = {seed}')).run(SHAPE)


@pytest.mark.parametrize(
    ("text", "changes", "says"),
    [
        ("epochs = 3", [], 'names no recipe; add a line such as recipe = "triplet"'),
        ('recipe = "triplets"', [], 'no recipe "triplets"; did you mean "triplet"'),
        ('recipe = "triplet"\nepoch = 3', [], 'no setting or table "epoch"; did you mean "epochs"'),
        ('recipe = "triplet"\n[dat]\nsize = 3', [], 'no setting or table "dat"; did you mean "data"'),
        (
            'recipe = "triplet"\n[data]\nsizes = 3',
            [],
            'data: there is no setting "sizes"; did you mean "size"',
        ),
        ('recipe = "triplet"\n[data]\nsize = "big"', [], "data.size: expected a whole number"),
        ('recipe = "triplet"\n[split]\nby = "lot"', [], 'split.by: "lot" is not a choice'),
        ('recipe = "triplet"\ndata = "birds"', [], r"expected a table \[data\], got data = 'birds'"),
        ('recipe = "triplet"\n[data]\nsource = 3', [], "expected a text for data.source, got 3"),
        ('recipe = "triplet"\nepochs = 3\n[training]\nepochs = 4', [], r"epochs stands at the top and in"),
        ('recipe = "triplet"', ["data=birds"], r'expected data.name=value, got "data=birds"'),
        ('recipe = "triplet"', ["split.by"], r'expected split.name=value, got "split.by"'),
        ('recipe = "triplet"', ["trainig.epochs=3"], '^--set: .* table "trainig"; did you mean "training"'),
        ('recipe = "triplet"', ["dat.size=3"], '^--set: .* table "dat"; did you mean "data"'),
        ('recipe = "triplet', [], "is not valid TOML"),
    ],
)
def test_a_mistake_is_told_before_any_data_is_opened(run_file, text, changes, says):
    with pytest.raises(SettingError, match=says):
        read_plan(run_file(text), changes)


@pytest.mark.parametrize("change", ["training.epoch=3", "epoch=3"])
def test_a_misspelt_change_is_answered_with_the_nearest(change):
    with pytest.raises(SettingError, match='no setting "epoch"; did you mean "epochs"'):
        read_plan("triplet", [change]).run(SHAPE)


def test_a_recipe_cannot_be_renamed():
    with pytest.raises(SettingError, match='would only rename the run; say "verification" instead'):
        read_plan("triplet", ["recipe=verification"]).run(SHAPE)


def test_a_run_file_that_is_not_there(tmp_path):
    with pytest.raises(SettingError, match=r"cannot read the run file .*none\.toml: No such file"):
        read_plan(str(tmp_path / "none.toml"))


@pytest.mark.parametrize(
    ("changes", "optimiser", "schedule"),
    [
        ([], "Adam", "cosine"),
        (["optimiser.rate=0.02"], "SGD", "cosine"),
        (["training.optimiser.momentum=0.5"], "SGD", "cosine"),
        (["schedule.milestones=[3]"], "Adam", "multi-step"),
        (["space.similarity.hidden=8"], "Adam", "cosine"),
    ],
)
def test_few_pictures_choose_what_nobody_has_spoken_of(changes, optimiser, schedule):
    run = read_plan("prototypical", changes).run_for(digits())
    assert (run.optimiser.name, run.schedule.name) == (optimiser, schedule)


def test_a_file_that_names_the_encoder_and_the_epochs_keeps_them(run_file):
    path = run_file('recipe = "triplet"\nepochs = 5\n[space.encoder]\nname = "MLP"\ndimension = 8\n')
    run = read_plan(path).run_for(digits())
    assert (run.epochs, run.space.encoder.name, run.optimiser.name) == (5, "MLP", "Adam")


def test_items_that_cannot_be_split_leave_the_recipe_as_it_is():
    plan = read_plan("triplet", split={"unseen": ["seven", "eight"]})
    assert plan.run_for(digits()) == recipes.triplet(SHAPE)


@pytest.mark.parametrize(
    ("batches", "changes", "epochs"),
    [
        ({}, [], 67),  # three batches of 64 of the 150 items
        ({}, ["batches.size=75"], 100),
        ({"size": 75}, [], 100),
        ({"size": 75}, ["batches.size=8"], 30),
        ({"sampler": "UniformTriplets"}, [], 30),
    ],
)
def test_the_epochs_go_by_the_batches_that_are_asked_for(batches, changes, epochs):
    plan = read_plan("triplet", changes, training={"batches": batches})
    assert plan.run(SHAPE, trained_on=150).epochs == epochs


def test_the_number_to_train_on_may_be_given():
    plan = read_plan("triplet")
    assert plan.run_for(digits(), trained_on=2_000) == recipes.triplet(SHAPE)
    assert plan.run_for(digits(), trained_on=20).epochs == 150


def test_an_encoder_that_is_given_stays():
    plan, part = read_plan("triplet"), Part("Conv4", {"dimension": 8})
    assert plan.run_for(digits(), encoder=part).space.encoder == part
    assert plan.run_for(digits(), encoder=part).optimiser.name == "Adam"


@pytest.mark.parametrize(
    "name", [name for name in recipes.RECIPES if name not in ("triplet", "prototypical", "verification")]
)
def test_items_are_not_divided_where_their_number_changes_nothing(monkeypatch, name):
    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr("samekind.data.split_settings.split_items", refuse)
    assert read_plan(name).run_for(digits()) == recipes.RECIPES[name](SHAPE)
    with pytest.raises(AssertionError):
        read_plan("triplet").run_for(digits())


def test_to_count_them_the_items_are_not_copied(monkeypatch):
    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr("samekind.data.Items.take", refuse)
    assert read_plan("triplet").run_for(digits()).optimiser.name == "Adam"


def test_all_that_is_chosen_is_told():
    shape = (3, 33, 33)
    plan = read_plan("prototypical")
    words = chosen_in_words(plan.run(shape), plan.run(shape, trained_on=100))
    assert tuple(words) == CHOSEN
    assert words["encoder"] == ["ResNet18", "Conv4"]
    assert because_few(words).endswith(
        "ResNet18, averages of momentum 0.9, SGD at 0.05, multi-step, 30 epochs"
    )
    assert because_few({}) == ""

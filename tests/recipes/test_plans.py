"""Plans: what a recipe, a run file, the options and --set say together."""

import pytest

from samekind import recipes
from samekind.data import DataSettings, SplitSettings, digits
from samekind.errors import SettingError
from samekind.recipes.few_items import CHOSEN
from samekind.recipes.plans import because_few, chosen_in_words, read_plan
from samekind.training import Part

SHAPE = (1, 8, 8)


@pytest.fixture
def run_file(tmp_path):
    def write(text):
        path = tmp_path / "run.toml"
        path.write_text(text)
        return str(path)

    return write


def few(plan, items=100, encoder=None):
    """The run of a plan for so many items to train on."""
    return plan.suited(plan.run(SHAPE, encoder=encoder), SHAPE, items=items, encoder=encoder)


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


def test_by_default_the_parts_of_the_items_are_the_split_and_the_seed_is_the_runs():
    from dataclasses import replace

    given = replace(digits(), parts=("train",) * len(digits()))
    plan = read_plan("triplet")
    assert plan.splitting(given, seed=3) == SplitSettings(by="part", seed=3)
    assert plan.splitting(digits(), seed=3) == SplitSettings(by="random", seed=3)
    assert read_plan("triplet", split={"by": "random"}).splitting(given, seed=3).by == "random"


def test_by_default_groups_stay_together_if_there_are_no_parts():
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
def test_refuses_a_seed_out_of_range(run_file, seed):
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
def test_refuses_mistakes_before_any_data_is_opened(run_file, text, changes, says):
    with pytest.raises(SettingError, match=says):
        read_plan(run_file(text), changes)


@pytest.mark.parametrize("change", ["training.epoch=3", "epoch=3"])
def test_suggests_the_nearest_name_of_a_setting(change):
    with pytest.raises(SettingError, match='no setting "epoch"; did you mean "epochs"'):
        read_plan("triplet", [change]).run(SHAPE)


def test_a_recipe_cannot_be_renamed():
    with pytest.raises(SettingError, match='would only rename the run; say "verification" instead'):
        read_plan("triplet", ["recipe=verification"]).run(SHAPE)


def test_refuses_a_missing_run_file(tmp_path):
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
def test_few_pictures_choose_the_settings_that_are_left_open(changes, optimiser, schedule):
    run = few(read_plan("prototypical", changes))
    assert (run.optimiser.name, run.schedule.name) == (optimiser, schedule)


def test_a_file_that_names_the_encoder_and_the_epochs_keeps_them(run_file):
    path = run_file('recipe = "triplet"\nepochs = 5\n[space.encoder]\nname = "MLP"\ndimension = 8\n')
    run = few(read_plan(path))
    assert (run.epochs, run.space.encoder.name, run.optimiser.name) == (5, "MLP", "Adam")


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
    assert few(plan, 150).epochs == epochs


def test_the_epochs_go_by_the_number_of_items():
    plan = read_plan("triplet")
    assert few(plan, 2_000) == recipes.triplet(SHAPE)
    assert few(plan, 20).epochs == 150


def test_an_encoder_that_is_given_stays():
    plan, part = read_plan("triplet"), Part("Conv4", {"dimension": 8})
    run = few(plan, encoder=part)
    assert run.space.encoder == part
    assert run.optimiser.name == "Adam"


@pytest.mark.parametrize("change", ["optimiser.rate=0.02", "optimiser.name=SGD"])
def test_a_recipe_that_does_not_use_sgd_stays_as_it_is(change):
    """Whatever is said about the optimiser."""
    plan = read_plan("unseen-triplet", [change])
    assert few(plan) == plan.run(SHAPE)


def test_another_optimiser_leaves_the_rest_to_what_suits_few_pictures():
    run = few(read_plan("triplet", ["optimiser={name='AdamW', rate=0.1}"]))
    assert (run.optimiser.name, run.optimiser.rate, run.schedule.name) == ("AdamW", 0.1, "cosine")


def test_a_space_that_is_given_whole_stays():
    parts = 'encoder = {name = "ResNet18"}, similarity = {name = "Dot"}, prototypes = {name = "SupportMeans"}'
    plan = read_plan("prototypical", [f"space={{{parts}}}"])
    assert few(plan).space == plan.run(SHAPE).space


def test_every_choice_is_named():
    shape = (3, 33, 33)
    plan = read_plan("prototypical")
    words = chosen_in_words(plan.run(shape), plan.suited(plan.run(shape), shape, items=100))
    assert tuple(words) == CHOSEN
    assert words["encoder"] == ["ResNet18", "Conv4"]
    assert because_few(words).endswith(
        "ResNet18, averages of momentum 0.9, SGD at 0.05, multi-step, 30 epochs"
    )
    assert because_few({}) == ""


@pytest.mark.parametrize("text", ["recipe = [1]", "recipe = {a = 1}", "recipe = " + "[" * 5000])
def test_a_run_file_with_anything_for_a_recipe_is_refused_with_a_sentence(tmp_path, text):
    (tmp_path / "run.toml").write_text(text)
    with pytest.raises(SettingError, match=r"recipe|TOML"):
        read_plan(str(tmp_path / "run.toml"))

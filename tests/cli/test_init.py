"""samekind init: the file it writes is the run it speaks of."""

import json
import shlex
import shutil
import tomllib

import pytest

from samekind.data import DataSettings, open_data
from samekind.recipes.plans import read_plan

TABLE = "petal,stem,kind\n" + "".join(f"{n % 5}.5,{n % 3},{'rose' if n % 2 else 'lily'}\n" for n in range(20))


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "data" / "flowers.csv"
    path.parent.mkdir()
    path.write_text(TABLE)
    return path


def test_the_file_is_a_plan_with_the_data_beside_it(samekind, table, tmp_path):
    answer = samekind("init", table, "--label", "kind", "--out", tmp_path / "run.toml", "--want", "baseline")
    assert (answer.status, answer.err) == (0, "")
    plan = read_plan(str(tmp_path / "run.toml"))
    assert (plan.recipe, plan.source, plan.data.label) == ("triplet", str(table), "kind")
    assert tomllib.loads((tmp_path / "run.toml").read_text())["data"]["source"] == "data/flowers.csv"
    assert plan.run((2,)) == read_plan("triplet").run((2,))
    assert "next: samekind train" in answer.out


def test_settings_are_spelt_as_the_pages_spell_them(samekind, folders, tmp_path):
    """At the top, not in a table [training], which may be said as well."""
    out = tmp_path / "run.toml"
    samekind("init", folders, "--out", out, "--epochs", 7)
    text = out.read_text()
    assert "\nepochs = 7\n" in text
    assert "--set epochs=7 " in text
    assert "training." not in text
    assert "[training" not in text


def test_the_printed_command_can_be_typed_as_it_is(samekind, table, tmp_path):
    out = tmp_path / "my run.toml"
    answer = samekind("init", table, "--label", "kind", "--out", out, "--want", "baseline")
    assert shlex.split(answer.out.partition("next: ")[2]) == ["samekind", "train", str(out)]


def test_options_are_in_the_file(samekind, folders, tmp_path):
    out = tmp_path / "run.toml"
    options = ("--size", 12, "--unseen", "half", "--epochs", 4, "--want", "same-or-different")
    content = json.loads(samekind("init", folders, "--out", out, *options, "--json").out)
    assert content == {"run": str(out), "recipe": "verification", "items": 36, "classes": ["0", "1", "7"]}
    plan = read_plan(str(out))
    assert (plan.recipe, plan.data.size, plan.split["unseen"]) == ("verification", 12, "half")
    assert plan.run((1, 12, 12)).epochs == 4


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--unseen", "0,Nosuch"), 'folders has no class "Nosuch"; Known: 0, 1, 7'),
        (("--unseen", "0,1,7"), "a split by class needs items of seen and of unseen classes"),
        (("--split", "group"), "folders has no groups to keep together"),
    ],
)
def test_refuses_a_split_that_does_not_fit_the_items(samekind, folders, tmp_path, options, says):
    """As training would refuse it."""
    answer = samekind("init", folders, "--out", tmp_path / "run.toml", *options)
    assert (answer.status, answer.out) == (2, "")
    assert says in answer.err
    assert not (tmp_path / "run.toml").exists()


def test_a_class_with_a_comma_in_its_name_is_one_class(samekind, folders, tmp_path):
    data, out = shutil.copytree(folders, tmp_path / "data"), tmp_path / "run.toml"
    (data / "0").rename(data / "O'Neill, Goldfinch & co")
    answer = samekind("init", data, "--out", out, "--unseen", "O'Neill, Goldfinch & co")
    assert answer.status == 2
    assert 'did you mean "O\'Neill, Goldfinch & co"?' in answer.err
    assert samekind("init", data, "--out", out, "--unseen", '"O\'Neill, Goldfinch & co",7').status == 0
    assert read_plan(str(out)).split["unseen"] == ["7", "O'Neill, Goldfinch & co"]


def test_the_house_recipe_is_the_default_and_follows_the_data(samekind, folders, tmp_path):
    """Its settings are comments: more data may have others."""
    out = tmp_path / "run.toml"
    assert samekind("init", folders, "--out", out).status == 0
    plan = read_plan(str(out))
    assert plan.recipe == "house"
    assert plan.training == {"seed": 0}
    assert "# rate = " in out.read_text()


@pytest.mark.parametrize(
    ("want", "recipe"),
    [
        ("best", "house"),
        ("everything", "prototypical"),
        ("unseen-classes", "unseen-proxy-nca-adapt-adv"),
        ("unseen-angular-energy", "unseen-angular-energy"),
        ("prototypical", "prototypical"),
    ],
)
def test_a_recipe_can_be_asked_for_by_its_name(samekind, folders, tmp_path, want, recipe):
    out = tmp_path / "run.toml"
    assert samekind("init", folders, "--out", out, "--want", want).status == 0
    text = out.read_text()
    assert ("validation_classes" in text) == recipe.startswith("unseen")
    out.write_text(text.replace("# validation_classes", "validation_classes"))
    plan = read_plan(str(out))
    assert plan.recipe == recipe
    assert plan.run((1, 8, 8)) == few(read_plan(recipe), (1, 8, 8))


def few(plan, shape):
    """The run of a plan for the pictures of the folders: 12 a class, 7 of them to train on."""
    return plan.suited(plan.run(shape), shape, items=21)


@pytest.mark.parametrize("size", [8, 32, 64])
def test_settings_for_few_pictures_are_in_the_file(samekind, folders, tmp_path, size):
    """So that the file says the same when there are more of them."""
    out = tmp_path / "run.toml"
    assert samekind("init", folders, "--out", out, "--size", size, "--want", "everything").status == 0
    items = open_data(str(folders), settings=DataSettings(size=size))
    run = read_plan(str(out)).run(items.shape)
    assert run == few(read_plan("prototypical"), items.shape)
    assert (run.optimiser.name, run.schedule.name) == ("Adam", "cosine")


@pytest.mark.parametrize("want", ["best", "everything"])
def test_commented_settings_are_valid_too(samekind, folders, tmp_path, want):
    """Uncommented, the file must still be one that training takes."""
    out = tmp_path / "run.toml"
    samekind("init", folders, "--out", out, "--want", want)
    text = out.read_text().replace('# unseen = ["…", "…"]', '# unseen = ["0", "1"]')
    _, _, body = text.partition("\nrecipe")
    lines = [line[2:] if line.startswith("# ") else line for line in f"recipe{body}".splitlines()]
    out.write_text("\n".join(lines))
    plan = read_plan(str(out))
    assert plan.data.skip_unreadable
    assert plan.split["unseen"] == ["0", "1"]
    assert [part.name for part in plan.run((1, 8, 8)).augment] == ["PadAndCrop"]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--out", "run.txt"), "a run file ends in .toml; got run.txt"),
        (("--label", "kind", "--want", "all"), 'there is no "all"'),
        ((), 'has no column "label"; name the column of the class with --label: petal, stem, kind'),
    ],
)
def test_mistakes(samekind, table, tmp_path, monkeypatch, more, says):
    monkeypatch.chdir(tmp_path)
    answer = samekind("init", table, *more)
    assert answer.status == 2
    assert says in answer.err
    assert not (tmp_path / "run.toml").exists()


def test_does_not_overwrite_a_file(samekind, table, tmp_path):
    out = tmp_path / "run.toml"
    out.write_text("mine")
    command = ("init", table, "--label", "kind", "--out", out)
    answer = samekind(*command)
    assert answer.status == 2
    assert "exists already" in answer.err
    assert out.read_text() == "mine"
    assert samekind(*command, "--force").status == 0


def test_a_person_at_a_terminal_is_asked(samekind, table, tmp_path, monkeypatch):
    import io

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stdin", Terminal("kind\nbaseline\n"))
    answer = samekind("init", table, "--out", tmp_path / "run.toml")
    assert answer.status == 0
    assert read_plan(str(tmp_path / "run.toml")).recipe == "triplet"


def test_an_unanswered_question_is_an_interruption(samekind, table, tmp_path, monkeypatch):
    import io

    class Closed(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stdin", Closed(""))
    answer = samekind("init", table, "--out", tmp_path / "run.toml")
    assert answer.status == 130
    assert "samekind: interrupted" in answer.err
    assert not (tmp_path / "run.toml").exists()


def test_ignored_columns_are_in_the_file_once(samekind, table, folders, tmp_path):
    out, pictures = tmp_path / "run.toml", tmp_path / "pictures.toml"
    samekind("init", table, "--label", "kind", "--ignore", "stem", "--out", out)
    assert read_plan(str(out)).data.ignore == ("stem",)
    assert out.read_text().count("ignore =") == 1
    samekind("init", folders, "--skip-unreadable", "--unseen", "half", "--out", pictures)
    assert read_plan(str(pictures)).data.skip_unreadable
    assert pictures.read_text().count("skip_unreadable =") == pictures.read_text().count("unseen =") == 1

"""A tree of classes through the commands: train, evaluate, identify at a level, enrol under a node."""

import json
import shutil

import pytest

from samekind.space import MetricSpace
from samekind.taxonomy import read_tree

ROUND = "035689"
TABLE = "class,path\n" + "".join(
    f"{digit},digits/{'round' if digit in ROUND else 'straight'}/{digit}\n" for digit in "0123456789"
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    path = tmp_path_factory.mktemp("trees") / "digits.csv"
    path.write_text(TABLE)
    return path


@pytest.fixture(scope="module")
def run(again, tree, tmp_path_factory):
    """The run of the command line's tests, with a tree. Not to be changed."""
    folder = tmp_path_factory.mktemp("runs") / "with-tree"
    answer = again(folder, "--taxonomy", tree)
    assert answer.status == 0, answer.err
    return folder


def test_training_keeps_the_tree_and_measures_by_it_after_each_epoch(run, tree):
    space = MetricSpace.load(run / "space")
    assert space.tree == read_tree(tree)
    assert space.levels.items > 100
    first, last = (json.loads(line) for line in (run / "record.jsonl").read_text().splitlines())
    assert {"ahd@5", "hp@5", "mean correlation"} <= first["untrained"].keys() & last["validation"].keys()
    assert json.loads((run / "data.json").read_text())["data"]["taxonomy"] == str(tree)


def test_a_leaf_without_items_is_reported_and_a_missing_class_is_refused(
    again, samekind, folders, tree, tmp_path
):
    command = ("train", "triplet", "--data", folders, "--set", "epochs=1", "--out", tmp_path / "run")
    answer = samekind(*command, "--taxonomy", tree)
    assert answer.status == 0
    assert "7 leaves of the tree have no items: " in answer.err
    few = tmp_path / "few.csv"
    few.write_text("\n".join(TABLE.splitlines()[:3]))
    answer = again(tmp_path / "other", "--taxonomy", few)
    assert answer.status == 2
    assert f"{few}: 8 classes are not in the tree: 2, 3, 4, 5, 6 and 3 more; add each to the" in answer.err
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("tree.nwk", "((0,1", "tree.nwk: expected Newick"),
        ("tree.csv", "class,path\n0,a/0\n0,b/0\n", "tree.csv: "),
        ("tree.json", "{", "tree.json: "),
        ("none.csv", None, "cannot read the tree"),
    ],
)
def test_a_wrong_file_is_a_sentence(samekind, again, run, tmp_path, name, content, says):
    if content is not None:
        (tmp_path / name).write_text(content)
    for answer in (
        again(tmp_path / "run", "--taxonomy", tmp_path / name),
        samekind("evaluate", run, "--taxonomy", tmp_path / name),
        samekind("init", "digits", "--taxonomy", tmp_path / name, "--out", tmp_path / "run.toml"),
    ):
        assert (answer.status, answer.out) == (2, "")
        assert says in answer.err
        assert answer.err.count("\n") == 1
        assert "Traceback" not in answer.err


def test_init_writes_the_path_of_the_tree_beside_the_run_file(samekind, tree, tmp_path):
    file = shutil.copy(tree, tmp_path / "tree.csv")
    answer = samekind(
        "init", "digits", "--taxonomy", file, "--out", tmp_path / "run.toml", "--want", "triplet"
    )
    assert answer.status == 0, answer.err
    assert 'taxonomy = "tree.csv"' in (tmp_path / "run.toml").read_text()
    trained = samekind("train", tmp_path / "run.toml", "--set", "epochs=1", "--out", tmp_path / "run")
    assert trained.status == 0, trained.err
    assert MetricSpace.load(tmp_path / "run" / "space").tree == read_tree(tree)


def test_evaluation_grades_by_the_tree_of_the_space_or_of_a_file(samekind, run, trained, tree):
    options = ("--tasks", "3", "--no-references", "--json")
    reported = json.loads(samekind("evaluate", run, *options).out)
    rows = [row for row in reported["systems"]["with-tree"] if row["question"] == "tree"]
    assert {(row["items"], row["measure"]) for row in rows} >= {
        ("seen", "severity of mistakes"),
        ("seen", "HP@5"),
        ("seen", "right at 95%"),
        ("seen", "mean correlation of prototypes"),
        ("unseen", "HS@50"),
    }
    assert {"name", "neighbour", "steps", "nearest"} == reported["misplaced"][0].keys()
    without = json.loads(samekind("evaluate", trained, *options).out)
    assert not [row for row in without["systems"]["trained"] if row["question"] == "tree"]
    given = json.loads(samekind("evaluate", trained, *options, "--taxonomy", tree).out)
    assert [row["measure"] for row in given["systems"]["trained"] if row["question"] == "tree"]


def test_a_space_whose_proxies_the_tree_laid_out_is_evaluated_reported_and_checked(samekind, tree, tmp_path):
    """What the encoder was before the training needs no tree: the items of an evaluation have none."""
    run, few = tmp_path / "laid-out", ("--set", "epochs=1")
    trained = samekind("train", "corr", "--data", "digits", "--taxonomy", tree, *few, "--out", run)
    assert (trained.status, "Traceback" in trained.err) == (0, False)
    for command in (("evaluate", run, "--tasks", "3"), ("report", run), ("classes", run), ("tree", run)):
        answer = samekind(*command)
        assert answer.status == 0, answer.err


def test_the_tables_name_classes_in_the_wrong_place(samekind, run):
    answer = samekind("evaluate", run, "--tasks", "3", "--no-references")
    assert "severity of mistakes" in answer.out
    assert "Not beside their relatives: " in answer.out
    assert " steps in the tree)" in answer.out


def test_identify_answers_with_a_group_where_the_class_is_unsure(samekind, run, trained, folders):
    files = sorted(folders.glob("[01]/*.png"))
    reported = json.loads(samekind("identify", *files, "--space", run, "--level", "0.999", "--json").out)
    names = [item["class"] for item in reported["items"]]
    assert set(names) <= {"digits", "round", "straight", *"0123456789", None}
    assert set(names) & {"digits", "round", "straight"}
    assert reported["level"] == 0.999
    answer = samekind("identify", *files, "--space", run, "--level", "0.999")
    assert "some digits" in answer.out or "some round" in answer.out or "some straight" in answer.out
    sure = json.loads(samekind("identify", *files, "--space", run, "--level", "0.5", "--json").out)
    assert {item["class"] for item in sure["items"]} >= {"0", "1"}
    for level, says in (("1.5", "between 0 and 1"), ("0", "between 0 and 1")):
        assert says in samekind("identify", *files, "--space", run, "--level", level).err
    refused = samekind("identify", *files, "--space", trained, "--level", "0.95")
    assert (refused.status, refused.out) == (2, "")
    assert "this space has no tree of classes" in refused.err


def test_an_enrolled_class_takes_its_place_in_the_tree(samekind, run, folders, tmp_path):
    copy = shutil.copytree(run, tmp_path / "run", ignore=shutil.ignore_patterns("*.pt"))
    answer = samekind("enroll", "bar", folders / "1", "--space", copy)
    assert 'In the tree it stands under "straight".' in answer.out
    answer = samekind("enroll", "ring", folders / "0", "--space", copy, "--under", "straight", "--json")
    assert json.loads(answer.out)["under"] == "straight"
    assert MetricSpace.load(copy / "space").tree.children("straight")[-2:] == ("bar", "ring")
    files = sorted(folders.glob("1/*.png"))
    told = samekind("identify", *files, "--space", copy, "--level", "0.9")
    known = len(MetricSpace.load(run / "space").classes)
    assert (
        f"the level was fitted when the space knew {known} classes, and it knows {known + 2} now" in told.err
    )
    assert told.err.endswith("or the share of right answers may be lower\n")  # no other command after it
    assert "when the space knew" not in samekind("identify", *files, "--space", run, "--level", "0.9").err
    answer = samekind("enroll", "hook", folders / "7", "--space", copy, "--under", "strait")
    assert answer.status == 2
    assert 'expected a node of the tree, got "strait"' in answer.err

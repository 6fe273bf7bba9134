"""samekind enroll: a class from a few examples, and the others as they were."""

import json
import shutil

import pytest
import torch

from samekind import storage
from samekind.decisions import Decision
from samekind.inference import embed_files
from samekind.space import MetricSpace


@pytest.fixture
def run(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "run", ignore=shutil.ignore_patterns("*.pt"))


@pytest.fixture
def sevens(folders):
    return sorted((folders / "7").glob("*.png"))[:5]


def test_the_class_is_the_mean_of_its_examples(samekind, run, sevens):
    before = MetricSpace.load(run / "space")
    answer = samekind("enroll", "seven", *sevens, "--space", run, "--json")
    assert (answer.status, answer.err) == (0, "")
    assert json.loads(answer.out) == {
        "space": str(run / "space"),
        "class": "seven",
        "done": "added",
        "examples": 5,
        "classes": [*before.classes, "seven"],
        "warning": None,
    }
    after = MetricSpace.load(run / "space")
    torch.testing.assert_close(after.prototypes.vectors[-1, 0], embed_files(before, sevens).mean(0))
    torch.testing.assert_close(after.prototypes.vectors[:-1], before.prototypes.vectors)
    assert after.decisions == before.decisions


def test_a_folder_of_examples_and_another_place_for_the_space(samekind, trained, folders, tmp_path):
    before = (trained / "space" / "space.json").read_bytes()
    answer = samekind("enroll", "seven", folders / "7", "--space", trained, "--out", tmp_path / "new")
    assert answer.out == (
        f'The class "seven" is added from 12 examples; the space in {tmp_path / "new"} knows 8.\n'
    )
    assert MetricSpace.load(tmp_path / "new").classes[-1] == "seven"
    assert (trained / "space" / "space.json").read_bytes() == before


def test_warns_of_a_threshold_fitted_before(samekind, run, sevens):
    """It was fitted to turn the sevens away, and would go on doing so without a word."""
    space = MetricSpace.load(run / "space")
    space.open_set = Decision("cosine", 0.5, "eer", "some: 9 known, 8 unknown", 0.1, 0.1)
    space.save(run / "space")
    answer = samekind("enroll", "seven", *sevens, "--space", run)
    assert answer.err == (
        'careful: the threshold for none of these was fitted before the class "seven" was added, on some: '
        "9 known, 8 unknown; it was made to turn away the unknown items there, those of a class "
        f"that is known now too; fit it again: samekind calibrate {run / 'space'} DATA --open-set\n"
    )
    assert MetricSpace.load(run / "space").open_set == space.open_set
    content = json.loads(samekind("enroll", "seven", "--remove", "--space", run, "--json").out)
    assert content["warning"] == (
        'the threshold for none of these was fitted before the class "seven" was removed, on some: 9 known, '
        "8 unknown; fit it again"
    )


def test_replaces_a_known_class_only_if_asked(samekind, run, sevens):
    refused = samekind("enroll", "0", *sevens, "--space", run)
    assert refused == (
        2,
        "",
        'samekind: the class "0" is already there; ask to replace it (--replace), or choose another name\n',
    )
    content = json.loads(samekind("enroll", "0", sevens[0], "--space", run, "--replace", "--json").out)
    after = MetricSpace.load(run / "space")
    assert (content["done"], content["classes"]) == ("replaced", after.classes)
    place = after.classes.index("0")
    torch.testing.assert_close(after.prototypes.vectors[place, 0], embed_files(after, sevens[:1])[0])


def test_removes_a_class(samekind, run):
    assert samekind("enroll", "3", "--remove", "--space", run).out == (
        f'The class "3" is removed; the space in {run / "space"} knows 6.\n'
    )
    assert MetricSpace.load(run / "space").classes == ["0", "1", "2", "4", "5", "6"]
    answer = samekind("enroll", "3", "--remove", "--space", run)
    assert answer.err == 'samekind: there is no class "3"; Known: 0, 1, 2, 4, 5, 6\n'


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["x"], 'to enrol "x" give a few examples of it: files, folders or tables'),
        (
            ["x", "a.png", "--remove"],
            "--remove forgets a class: give its name, no files, no --replace and no --under",
        ),
        (
            ["x", "--remove", "--replace"],
            "--remove forgets a class: give its name, no files, no --replace and no --under",
        ),
    ],
)
def test_refuses_options_that_contradict_each_other(samekind, arguments, says):
    assert samekind("enroll", *arguments, "--space", "nowhere") == (2, "", f"samekind: {says}\n")


def test_a_space_that_cannot_be_written_stays_as_it_was(samekind, run, sevens, monkeypatch):
    before = {path.name: path.read_bytes() for path in (run / "space").iterdir()}

    def full(folder, fill):
        raise OSError(28, "No space left on device", str(folder))

    monkeypatch.setattr(storage, "write_folder", full)
    answer = samekind("enroll", "seven", *sevens, "--space", run)
    assert (answer.status, answer.err) == (
        2,
        f"samekind: cannot use {run / 'space'}: No space left on device\n",
    )
    assert {path.name: path.read_bytes() for path in (run / "space").iterdir()} == before


def test_refuses_two_changes_at_a_time(samekind, run, sevens, tmp_path):
    """Before, all of them returned 0 and the one who saved last undid what the others had done."""
    before = (run / "space" / "space.json").read_bytes()
    command = ("enroll", "seven", *sevens, "--space")
    with storage.sole_writer(run / "space"):
        answer = samekind(*command, run)
        assert (answer.status, answer.out, answer.err) == (
            2,
            "",
            f"samekind: {run / 'space'} is being changed by this very process; "
            "wait for that to end, and give the command again\n",
        )
        assert samekind("enroll", "3", "--remove", "--space", run / "space").status == 2
        assert samekind(*command, tmp_path / "other", "--out", run / "space").status == 2
        # What only reads the space is not kept out.
        assert samekind(*command, run, "--out", tmp_path / "deep" / "new").status == 0
        assert samekind("info", run).status == 0
    assert (run / "space" / "space.json").read_bytes() == before
    assert samekind(*command, run).status == 0
    assert MetricSpace.load(run / "space").classes[-1] == "seven"
    assert not (run / ".space.lock").exists()


@pytest.mark.slow
def test_the_run_can_still_be_evaluated(samekind, run, sevens):
    samekind("enroll", "seven", *sevens, "--space", run)
    assert samekind("evaluate", run, "--tasks", "2").status == 0


def test_knows_a_name_however_its_accents_are_stored(samekind, run, sevens):
    assert samekind("enroll", "\u00fc", *sevens, "--space", run).status == 0
    refused = samekind("enroll", "u\u0308", *sevens, "--space", run)
    assert refused.status != 0
    assert "is already there; ask to replace it" in refused.err
    assert samekind("enroll", "u\u0308", "--remove", "--space", run).status == 0
    assert "\u00fc" not in MetricSpace.load(run / "space").classes


def test_every_class_of_a_folder_in_one_go(samekind, run, folders):
    before = MetricSpace.load(run / "space")
    answer = samekind("enroll", "--classes", folders, "--space", run, "--replace", "--json")
    assert (answer.status, answer.err) == (0, "")
    content = json.loads(answer.out)
    names = sorted(path.name for path in folders.iterdir() if path.is_dir())
    assert sorted(content["examples"]) == names
    assert set(content["replaced"]) == set(names) & set(before.classes)
    after = MetricSpace.load(run / "space")
    assert set(after.classes) == set(before.classes) | set(names)
    place = after.classes.index("7")
    expected = embed_files(before, sorted((folders / "7").glob("*.png"))).mean(0)
    torch.testing.assert_close(after.prototypes.vectors[place, 0], expected)
    refused = samekind("enroll", "--classes", folders, "--space", run)
    assert refused.status == 2
    assert "is already there; ask to replace it (--replace)" in refused.err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["seven", "--classes", "x"], "--classes names the classes itself: leave out the name"),
        ([], "name the class and give a few examples of it, or many classes by --classes DATA"),
    ],
)
def test_one_class_or_many(samekind, run, more, says):
    answer = samekind("enroll", *more, "--space", run)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"samekind: {says}")


def test_many_classes_need_labels(samekind, run, sevens, tmp_path):
    (tmp_path / "loose").mkdir()
    shutil.copy(sevens[0], tmp_path / "loose.png")
    answer = samekind("enroll", "--classes", tmp_path / "loose.png", "--space", run)
    assert answer.status == 2
    assert "every item needs a label" in answer.err

"""What `samekind evaluate` can be asked: other items, fewer items, and one thing at a time."""

import json

import pytest

from samekind import evaluation
from samekind.cli.asking import labelled
from samekind.cli.experiments import sets_of
from samekind.data import draw
from samekind.space import MetricSpace


def told(samekind, *arguments):
    answer = samekind("evaluate", *arguments, "--tasks", "3", "--json")
    assert (answer.status, answer.err) == (0, "")
    return json.loads(answer.out)


def test_other_items_are_asked_about_and_the_promises_held_against_them(samekind, trained, folders):
    found = told(samekind, trained / "space", "--data", folders)
    space = MetricSpace.load(trained / "space")
    items = labelled(space, str(folders), label="label", skip_unreadable=False)
    rows = evaluation.evaluate(space, {"folders": items}, tasks=3)
    assert found["systems"]["space"] == [row._asdict() for row in rows]
    assert found["data"] == str(folders)
    assert [each["kind"] for each in found["promises"]] == space.kinds
    assert all("promised" in each["sentence"] for each in found["promises"])


def test_the_validation_items_of_a_run_are_other_items_too(samekind, trained):
    found = told(samekind, trained, "--data", trained)
    assert {row["items"] for row in found["systems"]["trained"]} == {"digits, validation"}


def test_fewer_items_are_drawn(samekind, trained):
    found = told(samekind, trained, "--most", 40)
    tests = {name: draw(items, most=40) for name, items in sets_of(trained).tests().items()}
    rows = evaluation.evaluate(MetricSpace.load(trained / "space"), tests, tasks=3)
    assert found["systems"]["trained"] == [row._asdict() for row in rows]


def test_items_without_a_class_are_refused(samekind, trained, pictures):
    answer = samekind("evaluate", trained, "--data", pictures)
    assert answer.status == 2
    assert "expected items whose class is known; " in answer.err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--data", "digits", "--against", "other"), "--data and --against ask for different things"),
        (("--trials", "list", "--against", "other"), "--against and --trials ask for different things"),
        (("--data", "digits", "--report", "page.html"), "--report is about the test items of one run"),
        (("--root", "here"), "--root belongs to a list of trials"),
    ],
)
def test_one_thing_at_a_time(samekind, trained, more, says):
    answer = samekind("evaluate", trained, *more)
    assert answer.status == 2
    assert says in answer.err

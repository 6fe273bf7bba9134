"""samekind evaluate: other items, and what its options ask for."""

import json
from dataclasses import replace

import pytest
import torch

from samekind import evaluation
from samekind.cli.spaces import open_space
from samekind.errors import DataError
from samekind.inference import embed_files
from samekind.questions.evaluate import EvaluationSettings
from samekind.space import MetricSpace


def content(samekind, *arguments):
    tasks = () if "--trials" in arguments else ("--tasks", "3")
    answer = samekind("evaluate", *arguments, *tasks, "--json")
    assert (answer.status, answer.err) == (0, "")
    return json.loads(answer.out)


def test_evaluates_other_items_and_checks_the_promises_there(samekind, trained, folders):
    answer = content(samekind, trained / "space", "--data", folders)
    space = MetricSpace.load(trained / "space")
    items = open_space(trained, "cpu").read_labelled(str(folders), skip_unreadable=False)
    rows = evaluation.evaluate(space, {"folders": items}, tasks=3)
    assert answer["systems"]["space"] == [row._asdict() for row in rows]
    assert answer["data"] == str(folders)
    assert [promise["kind"] for promise in answer["promises"]] == space.kinds
    assert all("promised" in promise["sentence"] for promise in answer["promises"])


def test_evaluates_the_validation_items_of_a_run(samekind, trained):
    answer = content(samekind, trained, "--data", trained)
    assert {row["items"] for row in answer["systems"]["trained"]} == {"digits, validation"}


@pytest.mark.parametrize("asked", [".", "space"])
def test_warns_of_items_that_were_trained_on(samekind, trained, asked, monkeypatch):
    """On the standard error, and in every row."""
    row = evaluation.Row("verification", "digits", "Cllr", "cosine", 0.5, note="of 10 pairs")
    monkeypatch.setattr("samekind.evaluation.evaluate", lambda *_, **__: [row])
    answer = samekind("evaluate", trained / asked, "--data", "digits", "--most", "100", "--json")
    assert answer.status == 0
    assert "careful: digits holds this space's training items" in answer.err
    [rows] = json.loads(answer.out)["systems"].values()
    assert [row["note"] for row in rows] == ["of 10 pairs; training items among them"]


def test_refuses_items_without_a_class(samekind, trained, pictures):
    answer = samekind("evaluate", trained, "--data", pictures)
    assert answer.status == 2
    assert "expected items whose class is known; " in answer.err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            ("--data", "digits", "--against", "other"),
            "--data and --against do not go together; leave out one",
        ),
        (("--cohort", "here", "--norm", "z"), '--norm: there is no "z"'),
        (("--cohort", "nowhere"), "nowhere"),
    ],
)
def test_a_mistake_gets_one_line(samekind, trained, more, says):
    answer = samekind("evaluate", trained, *more)
    assert answer.status == 2
    assert says in answer.err


def asked_of(samekind, monkeypatch, command, *arguments):
    """The settings and the cohort that a command asks `evaluate_run` with."""
    calls = []

    def noted(space, sets, settings, *, cohort, **_):
        calls.append((settings, cohort))
        raise DataError("enough")

    monkeypatch.setattr("samekind.questions.evaluate_opened.evaluate_run", noted)
    assert samekind(command, *arguments).err == "samekind: enough\n"
    [call] = calls
    return call


def test_both_commands_have_the_same_defaults(samekind, trained, monkeypatch):
    """Otherwise the page of report and the figures of evaluate would differ."""
    assert asked_of(samekind, monkeypatch, "evaluate", trained) == (EvaluationSettings(), None)
    settings, _ = asked_of(samekind, monkeypatch, "report", trained)
    assert replace(settings, promises=True) == EvaluationSettings()


def test_options_become_settings(samekind, trained, folders, monkeypatch):
    options = "--tasks 5 --all --way 2 --shots 3 --ranks 3,16 --enroll 2 --combine max --gallery train "
    options += "--ignore group --seed 4 --most 30 --no-references --norm s --top 5 --cohort"
    settings, cohort = asked_of(samekind, monkeypatch, "evaluate", trained, *options.split(), folders / "7")
    assert settings == EvaluationSettings(
        tasks=5,
        way=2,
        shots=(3,),
        ranks=(3, 16),
        enrol=2,
        combination="max",
        gallery="train",
        ignore="group",
        measures="all",
        seed=4,
        limit=30,
        references=False,
    )
    space = MetricSpace.load(trained / "space")
    torch.testing.assert_close(cohort.z, embed_files(space, sorted((folders / "7").iterdir())))
    assert cohort[1:] == ("s", 5)

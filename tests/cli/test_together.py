"""Options that would do nothing are refused, in a sentence that names what they lack, or what bars them."""

import inspect
from typing import Annotated

import pytest
import typer

from samekind.cli import calibrate, evaluate
from samekind.cli.together import Goes, check_together
from samekind.errors import SettingError

TABLE = {
    "top": Goes(with_one_of=("cohort", "strangers")),
    "cohort": Goes(without=("other_run",)),
    "strangers": Goes(without=("data",), because="nobody is both"),
}


def ask(*arguments):
    """What a command of these options says to its arguments."""
    program = typer.Typer()

    @program.command()
    def command(
        context: typer.Context,
        data: Annotated[str | None, typer.Argument()] = None,
        top: int = 5,
        cohort: str = "",
        strangers: str = "",
        other_run: str = "",
    ) -> None:
        check_together(context, TABLE)

    program(list(arguments), standalone_mode=False)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--other-run", "b"),
        ("faces", "--cohort", "c"),
        ("--top", "7", "--cohort", "c"),
        ("--top", "7", "--strangers", "c", "--other-run", "b"),
    ],
)
def test_accepts_options_that_go_together(arguments):
    ask(*arguments)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("--top", "7"),
            "--top does nothing without --cohort or --strangers; give that as well, or leave it out",
        ),
        (("--top", "5"), "--top does nothing without"),  # as much as it would be anyway
        (("--top", "7", "--other-run", "b"), "--top does nothing without"),
        (("--cohort", "c", "--other-run", "b"), "--cohort and --other-run do not go together; leave out one"),
        (
            ("faces", "--strangers", "c"),
            r"--strangers and DATA do not go together \(nobody is both\); leave out one",
        ),
    ],
)
def test_refuses_options_without_effect(arguments, says):
    with pytest.raises(SettingError, match=says):
        ask(*arguments)


# --- evaluate ---------------------------------------------------------------------------------------

#: An option of evaluate, and beside what it would do nothing.
IDLE = [
    *(
        (option, other)
        for option in ("report r", "gallery train", "no-references")
        for other in ("data d", "against a", "trials t")
    ),
    *((option, "against a") for option in ("data d", "enroll 2", "cohort c", "ignore domain", "combine max")),
    *((option, "against a") for option in ("label kind", "skip-unreadable", "norm s", "top 9", "root r")),
    *((option, "trials t") for option in ("data d", "against a", "enroll 2", "most 9", "tasks 9", "way 3")),
    *((option, "trials t") for option in ("shots 1", "label kind", "skip-unreadable", "combine max")),
    *((option, "") for option in ("ignore domain", "combine max", "norm s", "top 9", "label kind")),
    *((option, "") for option in ("skip-unreadable", "root r", "enrollments e", "combine embedding")),
    *((option, "data d") for option in ("ignore domain", "combine max", "norm s", "top 9", "enrollments e")),
]


@pytest.mark.parametrize(("option", "other"), IDLE)
def test_evaluate_refuses_options_without_effect(samekind, tmp_path, option, other):
    """Before it opens anything: there is nothing here to open."""
    words = [f"--{text}".split() for text in (option, other) if text]
    answer = samekind("evaluate", tmp_path, *(word for option in words for word in option))
    assert (answer.status, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert words[0][0] in answer.err
    assert "do not go together" in answer.err or "does nothing without" in answer.err


@pytest.mark.parametrize("other", ["--data", "--against", "--trials"])
def test_says_why_there_is_no_page(samekind, tmp_path, other):
    answer = samekind("evaluate", tmp_path, "--report", "r.html", other, "x")
    why = "the page is about the test items of the run; --out writes all figures, as JSON"
    assert f"--report and {other} do not go together ({why}); leave out one\n" in answer.err


@pytest.mark.parametrize(
    "arguments",
    [
        "--gallery train --ignore domain --enroll 2 --combine max --cohort c --top 5 --skip-unreadable",
        "--no-references --most 40 --ranks 1 --all --report r",
        "--data d --label kind --skip-unreadable --most 40 --way 3 --shots 1 --enrol 2 --cohort c --norm s",
        "--against a --most 40 --tasks 9 --way 3 --shots 1 --all",
        "--trials t --root r --enrollments e --combine max --cohort c --skip-unreadable --all",
    ],
)
def test_evaluate_accepts_what_each_question_uses(samekind, tmp_path, arguments):
    answer = samekind("evaluate", tmp_path, *arguments.split())
    assert answer.status == 2
    assert "go together" not in answer.err
    assert "does nothing" not in answer.err


@pytest.mark.parametrize(
    ("command", "table"),
    [(evaluate.evaluate, evaluate.TOGETHER), (calibrate.calibrate, calibrate.TOGETHER)],
    ids=["evaluate", "calibrate"],
)
def test_the_tables_name_existing_options(command, table):
    names = set(inspect.signature(command).parameters)
    for name, goes in table.items():
        assert {name, *goes.with_one_of, *goes.without} <= names

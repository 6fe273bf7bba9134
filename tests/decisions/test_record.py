"""What space.json stores about scores: there and back, and what is refused."""

import json
from dataclasses import asdict

import pytest

from samekind.decisions import Balance, Choices, Decision, Ladder, Levels, Record, Rung, Standing, Temperature
from samekind.errors import SettingError

DECISION = Decision(
    "cosine", 0.5, "eer", "four trials", 0.1, 0.2, (2.0, -1.0), (0.0, 0.3), None, 2, 2, 2, 0.15
)
STANDING = Standing(0.05, 0.75, "voices, validation", (0.1, 0.3), (0.05, 0.45))
BALANCE = Balance(0.5, "voices, validation", 0.9, 0.8)
RECORD = Record(
    {"cosine": DECISION},
    DECISION,
    {"fused": Temperature(0.25, "made up", 40)},
    {"similarity": Standing(0.25, 0.5, "voices, validation"), "cosine": STANDING},
    Choices("normalised", "fitted", "cosine", "voices, validation"),
    Ladder(
        (
            Rung("untrained features", 0.5, 0.25, "cosine", "cosine", 1.5),
            Rung("fitted similarity", 0.6, 0.2, "fitted", "normalised", 2.0, (0.55, 0.65), (0.15, 0.25)),
        ),
        "fitted similarity",
        "3 folds of 5 classes",
    ),
    {"cosine": BALANCE},
    ("owl",),
    Levels((0.4, 0.5), "cosine", "voices, validation", 40),
)


def stored(**changes):
    return {**json.loads(json.dumps(RECORD.to_json())), **changes}


def test_there_and_back():
    assert Record.from_json(stored()) == RECORD
    assert list(RECORD.to_json()) == [
        "decisions",
        "open set",
        "temperatures",
        "standings",
        "choices",
        "ladder",
        "balances",
        "enrolled",
        "levels",
    ]


def test_older_files_have_decisions_alone():
    assert Record.from_json({"decisions": stored()["decisions"]}) == Record({"cosine": DECISION})


@pytest.mark.parametrize(
    ("value", "entry", "change", "says"),
    [
        (DECISION, "decisions", {"threshold": "a"}, "decisions.cosine.threshold: expected a number"),
        (DECISION, "decisions", {"calibration": [1.0]}, "calibration: expected a list of 2"),
        (DECISION, "decisions", {"classes": 2.5}, "classes: expected a whole number"),
        (DECISION, "decisions", {"point": None}, "point: expected a text"),
        (DECISION, "decisions", {"kind": "fused"}, 'the decision for "cosine" is one for "fused"'),
        (STANDING, "standings", {"equal_error": None}, "equal_error: expected a number"),
        (STANDING, "standings", {"recall": True}, "recall: expected a number"),
        (STANDING, "standings", {"recall": float("nan")}, r"recall: expected a number \(from 0 to 1\)"),
        (STANDING, "standings", {"measured_on": 3}, "measured_on: expected a text"),
        (STANDING, "standings", {"error_gain": [0.1]}, "error_gain: expected a list of 2"),
        (BALANCE, "balances", {"bonus": None}, "bonus: expected a number"),
        (STANDING, "standings", {"recall_gain": [0.1, "high"]}, r"recall_gain\[1\]: expected a number"),
    ],
)
def test_refuses_a_wrong_value(value, entry, change, says):
    with pytest.raises(SettingError, match=says):
        Record.from_json(stored(**{entry: {"cosine": {**asdict(value), **change}}}))


@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), float("nan")])
def test_refuses_a_temperature_that_is_not_positive_and_finite(value):
    with pytest.raises(SettingError, match=r"temperatures\.fused\.value"):
        Record.from_json(
            stored(temperatures={"fused": {"value": value, "fitted_on": "made up", "items": 40}})
        )


@pytest.mark.parametrize(("entry", "name"), [("standings", "auxiliary"), ("temperatures", "cosine")])
def test_refuses_an_unknown_kind_or_head(entry, name):
    values = list(stored()[entry].values())
    with pytest.raises(SettingError, match=f'{entry} has "{name}"'):
        Record.from_json(stored(**{entry: {name: values[0]}}))

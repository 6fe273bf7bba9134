"""Two runs by what their steps did: the paper's table of one comparison, and records that are not whole."""

import pytest

from samekind.errors import DataError
from samekind.measures.geometry import DYNAMICS, compare_checkpoints
from samekind.questions import dynamics
from samekind.questions.dynamics import recorded_steps

FIRST = {"steps": [1, 2, 3], "norm_ratio": [0.9, 0.8, 0.7], "con_alpha": [0.9, 1.1, 0.8]}
FIRST |= {"div_alpha": [1.1, 1.2, 0.9], "con_div": [0.8, 0.9, 0.95]}
OTHER = {"steps": [4], "norm_ratio": [1.0], "con_alpha": [0.95], "div_alpha": [1.05], "con_div": [0.9]}


def lines(*entries):
    return [{"epoch": number, "dynamics": entry} for number, entry in enumerate(entries, start=1)]


def test_epochs_are_joined_and_those_without_a_step_left_out():
    run = recorded_steps("run", [*lines(FIRST), {"epoch": 2}, *lines(OTHER)])
    assert run.steps == (1, 2, 3, 4)
    assert run.values["norm_ratio"] == (0.9, 0.8, 0.7, 1.0)


def test_each_measure_has_its_tests():
    first, second = recorded_steps("one", lines(FIRST)), recorded_steps("two", lines(OTHER))
    answer = dynamics(first, second)
    assert list(answer.measures) == list(DYNAMICS)
    for name, proper in zip(DYNAMICS, (None, "below 1", "above 1", "below 1"), strict=True):
        assert answer.measures[name] == compare_checkpoints(FIRST[name], OTHER[name], proper=proper)
    assert (answer.names, answer.steps, answer.warnings) == (("one", "two"), (3, 1), ())
    content = answer.to_json()
    assert content["measures"]["con_alpha"]["first_proper"] == pytest.approx(2 / 3)
    assert content["measures"]["norm_ratio"]["fisher"] is None
    assert "depend on each other" in content["note"]


def test_undefined_steps_are_left_out_and_said():
    missing = {**FIRST, "div_alpha": [None, 1.2, 0.0]}
    answer = dynamics(recorded_steps("one", lines(missing)), recorded_steps("two", lines(OTHER)))
    assert answer.measures["div_alpha"].first_mean == pytest.approx(1.2)
    assert answer.warnings == ("one: the div-alpha is undefined in 2 of 3 steps, left out",)
    nothing = recorded_steps("none", lines({**OTHER, "norm_ratio": [None]}))
    with pytest.raises(DataError, match="none: the norm ratio is undefined in all of its steps"):
        dynamics(nothing, nothing)


def test_a_record_without_dynamics_says_how_to_get_some():
    with pytest.raises(DataError, match="runs/a has no record of its dynamics; train it with dynamics=100"):
        recorded_steps("runs/a", [{"epoch": 1}])


@pytest.mark.parametrize(
    "damage",
    [
        [],
        {"steps": [1]},
        {**OTHER, "steps": [1, 2]},
        {**OTHER, "steps": ["1"]},
        {**OTHER, "con_div": ["0.9"]},
        {**OTHER, "con_div": 0.9},
        {**OTHER, "con_div": []},
    ],
)
def test_a_damaged_record_is_refused(damage):
    with pytest.raises(DataError, match="run: its record of dynamics is damaged"):
        recorded_steps("run", lines(damage))

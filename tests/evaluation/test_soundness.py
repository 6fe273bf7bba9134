"""The checks of an attack: each passes what a sound attack gives, and fails what it cannot give."""

import pytest
import torch

from samekind.evaluation.soundness import (
    NOT_A_MEASURE,
    Soundness,
    epsilons_check,
    random_check,
    steps_check,
    transfer_check,
    unlimited_check,
)


def right(share, items=100):
    """The first items are right."""
    return torch.arange(items) < share * items


FINE = {
    "more steps": steps_check([(10, right(0.5)), (50, right(0.4))]),
    "larger epsilon": epsilons_check([("1/255", right(0.9)), ("2/255", right(0.5)), ("4/255", right(0.5))]),
    "transfer": transfer_check(right(0.4), right(0.8), source="another"),
    "random search": random_check(right(0.4), right(0.95)),
    "huge epsilon": unlimited_check(right(0.0), epsilon="1"),
}
BROKEN = {
    "more steps": steps_check([(10, right(0.5)), (20, right(0.45)), (50, right(0.7))]),
    "larger epsilon": epsilons_check([("1/255", right(0.5)), ("2/255", right(0.8))]),
    "transfer": transfer_check(right(0.8), right(0.4), source="another"),
    "random search": random_check(right(0.95), right(0.4)),
    "huge epsilon": unlimited_check(right(0.3), epsilon="1"),
}


@pytest.mark.parametrize("name", FINE)
def test_each_check_passes_and_fails(name):
    assert FINE[name].passed
    assert FINE[name].name == BROKEN[name].name == name
    assert not BROKEN[name].passed


def test_a_rise_within_the_interval_is_no_violation():
    assert steps_check([(10, right(0.5)), (50, right(0.51))]).passed
    # Ten items more, but as many the other way: the runs differ by chance.
    one = right(0.5)
    other = one.clone()
    other[:9], other[60:71] = False, True
    assert steps_check([(10, one), (50, other)]).passed


def test_a_few_items_left_at_a_huge_epsilon_are_no_violation():
    assert unlimited_check(right(0.06), epsilon="1").passed


def test_the_note_names_what_failed():
    assert Soundness(tuple(FINE.values())).note == ""
    both = Soundness((FINE["transfer"], BROKEN["more steps"], BROKEN["huge epsilon"]))
    assert both.note == f"{NOT_A_MEASURE} (more steps, huge epsilon)"
    assert not both.is_sound
    assert both.to_json()["checks"][1]["sentence"].startswith("right: 10 steps 50.0%, 20 steps 45.0%, ")

"""A class from examples, and one removed."""

import pytest

from samekind.errors import SettingError, SpaceError
from samekind.questions import enroll, identify, remove_class


def test_adds_a_class_that_is_then_known(plane, at):
    answer = enroll(plane, "down", at([265, 275]))
    assert (answer.done, answer.examples, answer.warnings) == ("added", 2, ())
    assert answer.to_json()["classes"] == ("right", "up", "left", "down")
    assert identify(plane, at([260])).items[0].name == "down"


def test_replaces_a_known_class_only_if_asked(plane, at):
    with pytest.raises(SpaceError, match='the class "up" is already there'):
        enroll(plane, "up", at([260]))
    assert enroll(plane, "up", at([265, 275]), replace=True).done == "replaced"
    assert identify(plane, at([260])).items[0].name == "up"


def test_removes_a_class(plane):
    assert remove_class(plane, "up").to_json() == {
        "class": "up",
        "done": "removed",
        "examples": 0,
        "classes": ("right", "left"),
        "warning": None,
    }


def test_warns_of_several_labels_and_of_a_threshold_that_is_stale(plane, at, threshold):
    plane.open_set = threshold(0.5)
    labels = [label for label in "abcdefg" for _ in range(2)]
    answer = enroll(plane, "down", at(range(260, 274), labels))
    several, stale = answer.warnings
    assert several.startswith("its examples carry several labels (a 2, b 2, c 2, d 2, e 2, 2 more)")
    assert "was added, on made up; it was made to turn away" in stale
    assert stale.endswith("; fit it again")
    assert answer.to_json()["warning"] == f"{several}; {stale}"
    assert "turn away" not in remove_class(plane, "down").warnings[0]


def test_refuses_an_empty_name(plane, at):
    with pytest.raises(SettingError, match="a class needs a name"):
        enroll(plane, " ", at([0]))

"""Enrolled classes are in the index, whole or not at all."""

import pytest
import torch

from samekind.errors import SpaceError
from samekind.index import Exact, open_index
from samekind.serving.enrolments import Enrolments, open_enrolments
from samekind.serving.refusal import Refusal
from samekind.space import MetricSpace


@pytest.fixture
def folder(tmp_path):
    index = Exact(2, score="euclidean")
    index.save(tmp_path / "enrolled")
    index.close()
    return tmp_path / "enrolled"


@pytest.fixture
def enrolments(folder):
    return Enrolments(open_index(folder))


def reopened(enrolments, folder):
    enrolments.close()
    return Enrolments(open_index(folder))


def known(enrolments):
    """The classes with their examples."""
    return {name: one.z.tolist() for name, one in enrolments.changes.enrolled.items()}


def test_what_was_enrolled_is_there_when_it_is_opened_again(enrolments, folder):
    enrolments.enroll("a", torch.eye(2), replace=False, under="root")
    enrolments.enroll("b", torch.ones(1, 2), replace=False, under=None)
    again = reopened(enrolments, folder)
    assert known(again) == {"a": [[1, 0], [0, 1]], "b": [[1, 1]]}
    assert again.changes.enrolled["a"].under == "root"
    assert list(again.changes.enrolled) == ["a", "b"]


def test_a_name_is_taken_once(enrolments):
    enrolments.enroll("a", torch.eye(2), replace=False, under=None)
    with pytest.raises(Refusal, match="already there") as refused:
        enrolments.enroll("a", torch.ones(1, 2), replace=False, under=None)
    assert refused.value.status == 409
    assert known(enrolments) == {"a": [[1, 0], [0, 1]]}


def test_a_replaced_class_has_the_new_examples_alone(enrolments, folder):
    enrolments.enroll("a", torch.eye(2), replace=False, under=None)
    enrolments.enroll("a", torch.ones(1, 2), replace=True, under=None)
    assert known(reopened(enrolments, folder)) == {"a": [[1, 1]]}


def test_classes_of_the_training_are_renamed_and_removed(enrolments, folder):
    enrolments.rename("cat", "felis", trained="cat")
    enrolments.rename("felis", "Felis", trained="cat")
    enrolments.remove("dog", trained="dog")
    assert reopened(enrolments, folder).changes.trained == {"cat": "Felis", "dog": None}


@pytest.mark.parametrize("change", ["replace", "rename", "remove"])
def test_a_process_that_dies_between_two_steps_leaves_one_class(enrolments, folder, monkeypatch, change):
    """The step behind the one that counts removes entries; without it, they do not count either."""
    enrolments.enroll("a", torch.eye(2), replace=False, under=None)

    class Died(BaseException):
        """As if the process had ended."""

    def die(_):
        raise Died

    monkeypatch.setattr(enrolments._index, "remove", die)
    changes = {
        "replace": lambda: enrolments.enroll("a", torch.ones(1, 2), replace=True, under=None),
        "rename": lambda: enrolments.rename("a", "b", trained=None),
        "remove": lambda: enrolments.remove("a", trained=None),
    }
    with pytest.raises(Died):
        changes[change]()
    expected = {
        "replace": {"a": [[1, 1]]},
        "rename": {"b": [[1, 0], [0, 1]]},
        "remove": {"a": [[1, 0], [0, 1]]},
    }
    again = reopened(enrolments, folder)
    assert known(again) == expected[change]
    # And what was left over is in nobody's way.
    for name in list(known(again)):
        again.remove(name, trained=None)
    again.enroll("a", torch.zeros(3, 2), replace=change != "remove", under=None)
    assert known(reopened(again, folder)) == {"a": [[0, 0]] * 3}


def test_enrolments_of_another_space_are_refused(saved_space, points_folder, tmp_path):
    open_enrolments(MetricSpace.load(saved_space), tmp_path / "state", None).close()
    with pytest.raises(SpaceError, match="another space"):
        open_enrolments(MetricSpace.load(points_folder), tmp_path / "state", None)

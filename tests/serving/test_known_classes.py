"""The classes of a served space are those of the saved one, changed as the enrolments say."""

import copy

import pytest
import torch

from samekind import space as space_room
from samekind.errors import SamekindError
from samekind.index import Exact
from samekind.questions.embedded import Embedded
from samekind.serving.enrolments import Enrolments
from samekind.serving.known_classes import KnownClasses
from samekind.serving.refusal import Refusal
from samekind.space import MetricSpace
from samekind.taxonomy import Tree


def examples(*rows):
    return Embedded(torch.tensor(rows), tuple(map(str, rows)), (None,) * len(rows))


@pytest.fixture
def space(points_folder):
    return MetricSpace.load(points_folder)


@pytest.fixture
def again(space):
    """The classes of a fresh copy of the saved space, by the same enrolments: after a restart."""
    fresh = copy.deepcopy(space)

    def opened(classes):
        copied = copy.deepcopy(fresh)
        KnownClasses(copied, Enrolments(classes._enrolments._index))
        return copied

    return opened


@pytest.fixture
def classes(space, again):
    return KnownClasses(space, Enrolments(Exact(2, score="euclidean")))


def prototypes(space):
    vectors = space.prototypes.vectors[:, 0].tolist()
    return dict(zip(space.classes, vectors, strict=True))


def test_every_change_is_the_same_after_a_restart(classes, space, again):
    classes.enroll("left", examples([-1.0, 0.0], [-3.0, 0.0]), replace=False, under=None)
    classes.rename("right", "east")
    classes.rename("up", "right")  # a name that another class had
    classes.rename("left", "west")
    classes.enroll("right", examples([0.0, 5.0]), replace=True, under=None)
    expected = {"east": [1, 0], "right": [0, 5], "west": [-2, 0]}
    assert prototypes(space) == expected
    assert prototypes(again(classes)) == expected
    assert again(classes).enrolled == space.enrolled
    classes.remove("right")
    classes.remove("east")
    assert prototypes(space) == prototypes(again(classes)) == {"west": [-2, 0]}
    classes.enroll("up", examples([0.0, 1.0]), replace=False, under=None)
    assert set(prototypes(again(classes))) == {"west", "up"}


def test_two_classes_can_change_names_with_each_other(classes, space, again):
    for old, new in (("right", "x"), ("up", "right"), ("x", "up")):
        classes.rename(old, new)
    assert prototypes(again(classes)) == prototypes(space) == {"up": [1, 0], "right": [0, 1]}


def test_what_is_refused_changes_nothing(classes, space):
    with pytest.raises(Refusal, match="already there"):
        classes.enroll("up", examples([1.0, 1.0]), replace=False, under=None)
    with pytest.raises(Refusal, match="already there"):
        classes.rename("up", "right")
    with pytest.raises(Refusal, match="no class"):
        classes.remove("down")
    with pytest.raises(SamekindError):
        classes.enroll("bad", examples([float("nan"), 1.0]), replace=False, under=None)
    assert prototypes(space) == {"right": [1, 0], "up": [0, 1]}


def test_an_enrolment_that_is_not_kept_is_undone(classes, space, monkeypatch):
    def fail(*_, **__):
        raise OSError("no space left")

    monkeypatch.setattr(classes._enrolments, "enroll", fail)
    with pytest.raises(OSError, match="no space left"):
        classes.enroll("left", examples([-1.0, 0.0]), replace=False, under=None)
    assert prototypes(space) == {"right": [1, 0], "up": [0, 1]}
    assert space.enrolled == []


def test_a_class_stands_in_the_tree_where_it_stood(space, again, points_folder):
    space.tree = Tree(("all", "sides", "right", "up"), (-1, 0, 1, 0))
    fresh = copy.deepcopy(space)
    classes = KnownClasses(space, Enrolments(Exact(2, score="euclidean")))
    answer = classes.enroll("left", examples([-1.0, 0.1]), replace=False, under="sides")
    assert answer.under == "sides"
    KnownClasses(fresh, classes._enrolments)
    assert fresh.tree.parent("left") == "sides"


def test_a_class_may_stand_under_an_enrolled_one_and_without_its_node_by_its_looks(space):
    fresh = copy.deepcopy(space)
    space.tree = Tree(("all", "sides", "right", "up", "corner"), (-1, 0, 1, 0, 0))
    fresh.tree = space.tree.subtree(["right", "up"])
    classes = KnownClasses(space, Enrolments(Exact(2, score="euclidean")))
    for name, under in (("left", "up"), ("lefter", "left"), ("edge", "corner")):
        classes.enroll(name, examples([1.0, 0.1]), replace=False, under=under)
    KnownClasses(fresh, classes._enrolments)
    assert fresh.tree.path("lefter") == ("all", "up", "left", "lefter")
    assert fresh.tree.parent("edge") == "sides"


def test_thousands_of_classes_are_made_anew_at_once(classes, space, again, monkeypatch):
    """One by one, a change would make people wait the longer for each class there is, twice over."""
    for number in range(20):
        classes.enroll(f"class {number}", examples([float(number), 1.0]), replace=False, under=None)
    put, calls = space_room.put_means, []
    monkeypatch.setattr(space_room, "put_means", lambda *given: calls.append(put(*given)))
    classes.remove("class 3")
    assert len(calls) == 1
    assert prototypes(again(classes)) == prototypes(space)
    assert len(space.enrolled) == 19


def test_a_name_that_two_servers_spelt_in_two_ways_is_one_class(space):
    enrolments = Enrolments(Exact(2, score="euclidean"))
    enrolments.enroll("M\u00f6we", torch.tensor([[2.0, 0.0]]), replace=False, under=None)
    enrolments.enroll("Mo\u0308we", torch.tensor([[0.0, 3.0]]), replace=False, under=None)
    KnownClasses(space, enrolments)
    assert prototypes(space) == {"right": [1, 0], "up": [0, 1], "M\u00f6we": [0, 3]}


def test_lists_every_class(classes):
    classes.enroll("left", examples([-1.0, 0.0], [-3.0, 0.0]), replace=False, under=None)
    assert classes.to_json()["classes"] == [
        {"name": "right", "examples": None, "enrolled": False},
        {"name": "up", "examples": None, "enrolled": False},
        {"name": "left", "examples": 2, "enrolled": True},
    ]

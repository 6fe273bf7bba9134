"""samekind classes: which are alike, and their tree."""

import json

import pytest

from samekind.cli.classes import _named
from samekind.inference.relations import class_scores
from samekind.space import MetricSpace


@pytest.mark.parametrize("kind", ["similarity", "cosine"])
def test_every_class_has_its_most_alike(samekind, trained, kind):
    told = json.loads(samekind("classes", trained, "--nearest", 2, "--kind", kind, "--json").out)
    space = MetricSpace.load(trained / "space")
    scores = class_scores(space, kind=kind)
    for place, name in enumerate(space.classes):
        others = [index for index in range(len(space.classes)) if index != place]
        others.sort(key=lambda index: -float(scores[place, index]))
        assert [other["class"] for other in told["alike"][name]] == [
            space.classes[index] for index in others[:2]
        ]
    assert len(told["tree"]) == len(space.classes) - 1
    assert sorted(told["tree"][-1]["first"] + told["tree"][-1]["second"]) == sorted(space.classes)


def test_people_get_two_tables(samekind, trained):
    answer = samekind("classes", trained)
    assert (answer.status, answer.err) == (0, "")
    assert "Most alike, by similarity" in answer.out
    assert "Joined, the most alike first" in " ".join(answer.out.split())  # a narrow table breaks its title


def test_a_kind_that_is_none_is_answered_with_the_nearest(samekind, trained):
    answer = samekind("classes", trained, "--kind", "cosin")
    assert (answer.status, answer.err.partition(";")[0]) == (2, 'samekind: this space has no score "cosin"')


def test_long_groups_are_cut():
    assert _named(("a", "b")) == "a, b"
    assert _named(tuple("abcdef")) == "a, b, c, d and 2 more"

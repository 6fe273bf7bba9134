"""samekind classes: which are alike, and their tree."""

import doctest
import json

import pytest
import torch

from samekind.cli import classes
from samekind.encoders import Unchanged
from samekind.inference.relations import class_scores
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine
from samekind.space import MetricSpace


@pytest.mark.parametrize("kind", ["similarity", "cosine"])
def test_every_class_has_its_most_alike(samekind, trained, kind):
    content = json.loads(samekind("classes", trained, "--nearest", 2, "--kind", kind, "--json").out)
    space = MetricSpace.load(trained / "space")
    scores = class_scores(space, kind=kind)
    for place, name in enumerate(space.classes):
        others = [index for index in range(len(space.classes)) if index != place]
        others.sort(key=lambda index: -float(scores[place, index]))
        assert [other["class"] for other in content["alike"][name]] == [
            space.classes[index] for index in others[:2]
        ]
    assert len(content["tree"]) == len(space.classes) - 1
    assert sorted(content["tree"][-1]["first"] + content["tree"][-1]["second"]) == sorted(space.classes)


def test_people_get_two_tables(samekind, trained):
    answer = samekind("classes", trained)
    assert (answer.status, answer.err) == (0, "")
    assert "Most alike, by similarity" in answer.out
    assert "Joined, the most alike first" in " ".join(answer.out.split())  # a narrow table breaks its title


def test_an_unknown_kind_is_answered_with_the_nearest(samekind, trained):
    answer = samekind("classes", trained, "--kind", "cosin")
    assert (answer.status, answer.err.partition(";")[0]) == (2, 'samekind: this space has no score "cosin"')


def test_long_groups_and_names_are_cut():
    assert doctest.testmod(classes).failed == 0
    assert classes._named(("a", "b")) == "a, b"
    assert classes._named(tuple("abcdefghijklmnop")) == "a, b, c, d, e, f, g, h, i, j, k, l, 4 more"
    assert len(classes._named(tuple(f"a class with a very long name {n}" for n in range(1000)))) <= 44
    assert classes._short("exactly twenty-four long") == "exactly twenty-four long"


def test_piped_rows_fit_a_screen(samekind, tmp_path):
    names = [f"a class with a very long name, number {n}" for n in range(20)]
    space = MetricSpace(Unchanged(inputs=4), Cosine(), SupportMeans(names, dimension=4))
    space.prototypes.vectors.copy_(torch.randn(20, 1, 4, generator=torch.Generator().manual_seed(0)))
    space.save(tmp_path / "space")
    answer = samekind("classes", tmp_path / "space")
    assert answer.status == 0
    assert 60 < max(map(len, answer.out.splitlines())) < 140

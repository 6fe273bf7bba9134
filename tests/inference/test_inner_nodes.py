"""Answers at inner nodes: thresholds against a search over all of them, and the share of right answers."""

import dataclasses

import pytest
import torch
from torch import nn

from samekind.data import Items
from samekind.decisions import Decision, Levels, Temperature
from samekind.errors import SpaceError
from samekind.inference import fit_levels, identify, identify_at, inner_nodes, settle
from samekind.inference.inner_nodes import level_thresholds, threshold_at, way_down
from samekind.prototypes import SupportMeans
from samekind.similarities import Euclidean
from samekind.space import MetricSpace
from samekind.taxonomy import Descent, Tree

CLASSES = ("cat", "dog", "shark", "ray")
TREE = Tree(("animals", "mammals", "fish", *CLASSES), (-1, 0, 0, 1, 1, 2, 2))
CENTRES = torch.tensor([[5.0, 1], [5, -1], [-5, 1], [-5, -1]])


def blobs(seed, n=400):
    """Items around four centres: two pairs that are far apart, the two of a pair hard to tell."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(4, (n,), generator=generator)
    inputs = CENTRES[labels] + 1.2 * torch.randn(n, 2, generator=generator)
    return Items(inputs, labels, CLASSES, f"blobs {seed}", tree=TREE)


@pytest.fixture
def space():
    known = SupportMeans(list(CLASSES), dimension=2)
    known.assign(list(CLASSES), CENTRES[:, None])
    space = MetricSpace(nn.Identity(), Euclidean(), known).eval()
    space.tree = TREE
    space.temperatures = {"similarity": Temperature(0.7, "made up", 100)}
    return space


def test_the_threshold_is_the_least_that_is_right_often_enough(space):
    """By trying every threshold on the items themselves, one item kept in hand."""
    items = blobs(1, n=99)
    way = way_down(space, items.inputs)
    [threshold] = level_thresholds(way, items.labels, [0.9])
    levels = sorted({*way.probabilities.flatten().tolist(), 0.0})

    def right(at):
        names = way.names(way.ends(at)[0])
        return sum(name in TREE.path(CLASSES[label]) for name, label in zip(names, items.labels, strict=True))

    assert right(threshold) >= 90  # of 100 with the new one, which may be wrong
    assert all(right(level) < 90 for level in levels if level < threshold)


def test_too_few_items_promise_no_high_level(space):
    way, truth = way_down(space, blobs(1, n=30).inputs), blobs(1, n=30).labels
    thresholds = level_thresholds(way, truth)
    assert len(thresholds) == 47  # up to 96 %: one of 31 may be wrong
    assert thresholds == sorted(thresholds)


def test_the_wanted_share_of_new_items_is_answered_rightly(space):
    space.levels = fit_levels(space, blobs(1, n=1000), blobs(1, n=1000).inputs)
    assert space.levels.items == 1000
    new = blobs(2, n=2000)
    truth = [CLASSES[label] for label in new.labels]
    leaves = identify(space, new.inputs)
    for level in (0.9, 0.95):
        answers = identify_at(space, new.inputs, level=level)
        right = [answer.name in TREE.path(name) for answer, name in zip(answers, truth, strict=True)]
        named = [answer.name in CLASSES for answer in answers]
        assert level - 0.02 < sum(right) / 2000 < level + 0.03
        assert 0.3 < sum(named) / 2000 < 1
        assert sum(a.name == name for a, name in zip(leaves, truth, strict=True)) / 2000 < level
    surest = identify_at(space, torch.tensor([[5.0, 6.0], [5.0, 0.0]]), level=0.95)
    assert [answer.name for answer in surest] == ["cat", "mammals"]
    assert surest[1].probability == pytest.approx(1, abs=1e-3)


def test_none_of_these_goes_first(space):
    space.open_set = Decision("similarity", -3.0, "eer", "made up", 0.1, 0.1, (1.0, 3.0))
    answers = identify_at(space, torch.tensor([[5.0, 0.0], [0.0, 40.0]]), level=0.9)
    assert [answer.name for answer in answers] == ["mammals", None]
    assert answers[1].probability == identify(space, torch.tensor([[0.0, 40.0]]))[0].probability


def test_many_items_go_down_the_tree_in_batches(space, monkeypatch):
    z, classify, sizes = blobs(2, n=7).inputs, space.classify, []
    expected = identify_at(space, z, level=0.9)
    monkeypatch.setattr(inner_nodes, "BATCH", 3)
    monkeypatch.setattr(space, "classify", lambda z, **how: sizes.append(len(z)) or classify(z, **how))
    assert identify_at(space, z, level=0.9) == expected
    assert sizes == [3, 3, 1]


def test_without_a_fit_the_level_itself_is_the_threshold(space):
    assert threshold_at(space, 0.8) == (0.8, False)
    space.levels = Levels((0.4,), "similarity", "made up", 1)
    assert threshold_at(space, 0.5) == (0.4, True)
    assert threshold_at(space, 0.5, kind="cosine") == (0.5, False)
    assert threshold_at(space, 0.8) == (2.0, True)
    assert {answer.name for answer in identify_at(space, CENTRES, level=0.8)} == {"animals"}


def test_without_a_tree_there_is_no_level(space):
    space.tree = None
    assert fit_levels(space, blobs(1), blobs(1).inputs) is None
    with pytest.raises(SpaceError, match="this space has no tree of classes"):
        identify_at(space, CENTRES, level=0.9)


def test_settling_fits_the_levels_on_validation_items(space):
    settle(space, blobs(3, n=60), blobs(4, n=200))
    assert (space.levels.items, space.levels.fitted_on) == (200, "blobs 4: 200 items of known classes")
    others = dataclasses.replace(blobs(4, n=200), classes=("a", "b", "c", "d"), tree=None)
    assert fit_levels(space, others, others.inputs) is None


def test_a_way_knows_its_classes():
    way = Descent(TREE, CLASSES, torch.eye(4))
    assert way.names(way.ends(0.9)[0]) == list(CLASSES)

"""Mistakes graded by a tree: against loops over the items, and what there is for unknown classes."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from samekind.data import Items, clusters
from samekind.evaluation import evaluate, severity
from samekind.evaluation.severity import tree_measures
from samekind.inference import fit_levels, search
from samekind.measures import hierarchical_similarity_at, mean_correlation
from samekind.prototypes import LearnedProxies, SupportMeans
from samekind.similarities import Euclidean
from samekind.space import MetricSpace
from samekind.taxonomy import Tree

pytestmark = pytest.mark.usefixtures("few_draws")

NAMES = tuple("012345")
TREE = Tree(("root", "low", "high", *NAMES), (-1, 0, 0, 1, 1, 1, 2, 2, 2))
STEPS = [[0 if a == b else 2 if (a < 3) == (b < 3) else 4 for b in range(6)] for a in range(6)]
ITEMS = replace(clusters(classes=6, items=12, dimension=3, spread=0.9), tree=TREE)


@pytest.fixture
def space():
    known = SupportMeans(dimension=3)
    order = [5, 0, 3, 1, 4, 2]  # not that of the items
    means = torch.stack([ITEMS.inputs[ITEMS.labels == label].mean(0) for label in order])
    known.assign([str(label) for label in order], means[:, None])
    space = MetricSpace(nn.Identity(), Euclidean(), known).eval()
    space.tree = TREE
    return space


def values(rows):
    return {row.measure: row.value for row in rows}


def ranked(space):
    """The classes of each item, the most probable first."""
    with torch.no_grad():
        scores = space.score_classes(ITEMS.inputs)
    return [
        [int(space.classes[place]) for place in row.tolist()] for row in scores.argsort(1, descending=True)
    ]


def test_the_rows_agree_with_loops(space):
    rows = severity(space, ITEMS, ITEMS.inputs, name="seen", measures="all")
    result, named, truth = values(rows), ranked(space), ITEMS.labels.tolist()
    steps = [STEPS[label][row[0]] for label, row in zip(truth, named, strict=True)]
    wrong = [value for value in steps if value]
    assert result["severity of mistakes"] == pytest.approx(sum(wrong) / len(wrong))
    assert result["AHD@1"] == pytest.approx(sum(steps) / len(steps))
    five = [
        sum(STEPS[label][other] for other in row[:5]) / 5 for label, row in zip(truth, named, strict=True)
    ]
    assert result["AHD@5"] == pytest.approx(sum(five) / len(five))
    assert result["HP@5"] == 1  # of six classes all are among the five nearest or as near
    neighbours = ITEMS.labels[
        search(space, ITEMS.inputs, ITEMS.inputs, k=50, apart=(torch.arange(72),) * 2).indices
    ]
    expected = hierarchical_similarity_at(neighbours, ITEMS.labels, class_distances=torch.tensor(STEPS))
    assert result["HS@50"] == pytest.approx(expected.mean)
    # The 71 others would be 100 % in any order, so half of them are taken for the 250.
    half = hierarchical_similarity_at(neighbours, ITEMS.labels, class_distances=torch.tensor(STEPS), k=35)
    assert result["HS@35"] == pytest.approx(half.mean)
    assert "HS@71" not in result
    means = torch.stack([ITEMS.inputs[ITEMS.labels == label].mean(0) for label in range(6)])
    correlation = mean_correlation(torch.cdist(means, means), torch.tensor(STEPS))
    assert result["mean correlation of prototypes"] == pytest.approx(correlation)
    assert result["mean correlation of item means"] == pytest.approx(correlation)
    assert {row.question for row in rows} == {"tree"}


def test_the_branch_of_most_classes_has_a_correlation_of_its_own(space):
    """As the living among the classes of plankton."""
    names, parents = ("root", "living", "fish", "bubble", *NAMES), (-1, 0, 1, 0, 1, 1, 2, 2, 3, 3)
    space.tree = Tree(names, parents)
    result = values(severity(space, ITEMS, ITEMS.inputs, name="seen", measures="all"))
    means = torch.stack([ITEMS.inputs[ITEMS.labels == label].mean(0) for label in range(4)])
    steps = space.tree.distances(NAMES[:4])
    for suffix, diagonal in (("", True), (", without the diagonal", False)):
        expected = mean_correlation(torch.cdist(means, means), steps, include_diagonal=diagonal)
        assert result[f"mean correlation of prototypes, living{suffix}"] == pytest.approx(expected)
        assert result[f"mean correlation of item means, living{suffix}"] == pytest.approx(expected)
    assert not any("bubble" in name for name in result)


def test_the_main_rows_are_few(space):
    rows = severity(space, ITEMS, ITEMS.inputs, name="seen")
    assert list(values(rows)) == [
        "severity of mistakes",
        "HP@5",
        "right at 95%",
        "class named at 95%",
        "HS@50",
        "mean correlation of prototypes",
    ]
    assert rows[0].low < rows[0].value < rows[0].high
    assert rows[0].unit == "items"


def test_answers_at_a_level_are_right_as_often_as_wanted(space):
    before = values(severity(space, ITEMS, ITEMS.inputs, name="seen"))
    space.levels = fit_levels(space, ITEMS, ITEMS.inputs)
    after = values(severity(space, ITEMS, ITEMS.inputs, name="seen"))
    assert after["right at 95%"] >= 0.95
    assert 0 <= after["class named at 95%"] <= 1
    assert before["HP@5"] == after["HP@5"]


def test_no_row_without_a_tree_or_with_a_class_outside_of_it(space):
    space.tree = TREE.subtree(NAMES[:5])
    assert severity(space, ITEMS, ITEMS.inputs, name="seen") == []
    space.tree = None
    assert severity(space, ITEMS, ITEMS.inputs, name="seen") == []


def test_unknown_classes_have_neighbours_and_means(space):
    space.remove("5")
    rows = severity(space, ITEMS, ITEMS.inputs, name="unseen")
    assert list(values(rows)) == ["HS@50", "mean correlation of item means"]
    rows = evaluate(space, {"unseen": ITEMS}, tasks=5, measures="all")
    assert {"HS@50", "AHS@71", "centroid accuracy"} <= values(rows).keys()


def test_two_classes_and_one_mistake_are_measured():
    items = Items(torch.eye(2).repeat(2, 1), torch.tensor([0, 1, 0, 1]), ("0", "1"), "two")
    known = SupportMeans(dimension=2)
    known.assign(["0", "1"], torch.eye(2)[:, None])
    space = MetricSpace(nn.Identity(), Euclidean(), known).eval()
    space.tree = TREE
    result = values(severity(space, items, items.inputs, name="two", measures="all"))
    assert "severity of mistakes" not in result  # there is none
    assert result["AHD@1"] == 0


def test_the_record_of_a_training_has_three_of_them(space):
    assert list(tree_measures(space, ITEMS, ITEMS.inputs)) == ["mean correlation"]  # not filled yet
    vectors, proxies = space.prototypes.vectors, LearnedProxies(space.classes, dimension=3)
    proxies.assign(space.classes, vectors)
    space.prototypes = proxies
    result = tree_measures(space, ITEMS, ITEMS.inputs)
    rows = values(severity(space, ITEMS, ITEMS.inputs, name="seen", measures="all"))
    assert result == {
        "mean correlation": pytest.approx(rows["mean correlation of prototypes"]),
        "ahd@5": pytest.approx(rows["AHD@5"]),
        "hp@5": pytest.approx(rows["HP@5"]),
    }
    space.remove("5")
    assert list(tree_measures(space, ITEMS, ITEMS.inputs)) == ["mean correlation"]
    assert tree_measures(space, replace(ITEMS, tree=None), ITEMS.inputs) == {}

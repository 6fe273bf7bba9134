"""Tasks whose queries are of other groups than their examples, and as always where there are none; and their
scores, against those of each task alone.
"""

import doctest
import sys
from dataclasses import replace

import pytest
import torch
from torch import nn

from samekind.data import Items, clusters
from samekind.data.groups import groups_apart
from samekind.evaluation import few_shot
from samekind.evaluation.tasks import TOGETHER, drawn_tasks, missing_shots, task_note, task_scores
from samekind.inference.fitting import neighbourhood
from samekind.prototypes import SupportMeans
from samekind.samplers import episodes
from samekind.similarities import Cosine, PairsNetwork, TwoCovariance
from samekind.space import MetricSpace

ITEMS = clusters(classes=4, items=12, dimension=2)


def drawn(items, **how):
    how = {"way": 3, "shot": 2, "queries": 5, "tasks": 20, "seed": 1} | how
    return drawn_tasks(items, groups_apart(items), **how)


def test_without_groups_they_are_those_of_the_sampler():
    generator = torch.Generator().manual_seed(1)
    expected = episodes(ITEMS.labels, way=3, shot=2, queries=5, tasks=20, generator=generator)
    for task, other in zip(drawn(ITEMS), expected, strict=True):
        assert all(torch.equal(members, its) for members, its in zip(task, other, strict=True))
    assert drawn(ITEMS, shot=12) == []


@pytest.mark.parametrize("shot", [1, 5, 8])
@pytest.mark.parametrize("across", [False, True])
def test_no_query_is_of_the_group_of_an_example(shot, across):
    """Three groups of four to a class; or each of them is shared by two classes."""
    groups = torch.arange(48) // 4 % 3 + 3 * (ITEMS.labels // (2 if across else 1))
    tasks = drawn(replace(ITEMS, groups=groups), shot=shot)
    assert len(tasks) == 20
    for task in tasks:
        assert task.support.shape == (3, shot)
        assert 1 <= task.query.shape[1] <= 5
        assert len(set(task.classes.tolist())) == 3
        for rows in (task.support, task.query):
            assert all(
                (ITEMS.labels[row] == label).all() for row, label in zip(rows, task.classes, strict=True)
            )
            assert all(len(set(row.tolist())) == len(row) for row in rows)
        assert not set(groups[task.support].flatten().tolist()) & set(groups[task.query].flatten().tolist())


def test_classes_of_one_group_are_left_out_and_small_ones_do_not_stop_the_others():
    groups = torch.arange(48) // 4
    groups[ITEMS.labels == 3] = 99
    tasks = drawn(replace(ITEMS, groups=groups), way=5, shot=8)
    assert {label for task in tasks for label in task.classes.tolist()} == {0, 1, 2}
    assert all(len(task.classes) == 3 for task in tasks)
    assert drawn(replace(ITEMS, groups=groups), shot=9) == []


def test_groups_that_hold_every_class_are_dealt_per_task():
    """Two sites, both with every class: one is shown, the other is asked about."""
    labels, site = torch.arange(40) // 2, torch.arange(40) % 2
    items = Items(torch.zeros(40, 1), labels, tuple(map(str, range(20))), "sites", groups=site)
    tasks = drawn(items, way=20, shot=1, queries=1, tasks=6)
    assert len(tasks) == 6
    assert {tuple(site[task.support].unique().tolist()) for task in tasks} == {(0,), (1,)}
    assert all((site[task.query] != site[task.support[0, 0]]).all() for task in tasks)


def test_classes_that_cannot_share_a_task_make_smaller_ones():
    """Of five shots each, b can spare the first site alone and c the second alone; a can spare either."""
    counts = {"a": (5, 5), "b": (1, 9), "c": (9, 1)}
    labels = torch.tensor([place for place in range(3) for _ in range(10)])
    sites = torch.tensor([site for pair in counts.values() for site in (0, 1) for _ in range(pair[site])])
    items = Items(torch.zeros(30, 1), labels, tuple(counts), "sites", groups=sites)
    tasks = drawn(items, way=3, shot=5, queries=1, tasks=8)
    assert len(tasks) == 8
    assert {tuple(sorted(task.classes.tolist())) for task in tasks} == {(0, 1), (0, 2)}
    # With six shots a can spare neither, and the others not the same.
    assert drawn(items, way=3, shot=6, queries=1, tasks=3) == []


def test_a_class_too_small_for_its_examples_does_not_stop_the_others():
    """The others have the tasks that they have without it, and a note counts it."""
    last = (ITEMS.labels == 3).nonzero().flatten()
    few = ITEMS.take(torch.cat([(ITEMS.labels < 3).nonzero().flatten(), last[:2]]))
    alone = few.take((few.labels < 3).nonzero().flatten())
    for task, other in zip(drawn(few), drawn(alone), strict=True):
        assert all(torch.equal(members, its) for members, its in zip(task, other, strict=True))
    assert {label for task in drawn(few, way=2, shot=1) for label in task.classes.tolist()} == {0, 1, 2, 3}
    notes = [task_note(items, groups_apart(items), 2) for items in (few, alone, ITEMS)]
    assert notes == ["3 of 4 classes have enough items", "", ""]
    # The small class may stand in front of the others.
    order = torch.randperm(len(few), generator=torch.Generator().manual_seed(0))
    for task in drawn(few.take(order)):
        for label, support, query in zip(*task, strict=True):
            assert (few.labels[order][torch.cat([support, query])] == label).all()


def test_with_groups_the_note_counts_the_classes_that_can_be_in_a_task():
    """Class 3 has one group; class 2 has eleven items of one group and one of another."""
    groups = torch.arange(48) // 4
    groups[ITEMS.labels == 3] = 99
    groups[(ITEMS.labels == 2).nonzero().flatten()[1:]] = 98
    items = replace(ITEMS, groups=groups)
    apart = groups_apart(items)
    assert task_note(items, apart, 5) == apart.note == "own group left out, 3 of 4 classes have another"
    assert task_note(items, apart, 9) == f"{apart.note}; 1 of 3 classes have enough items"


def test_examples_without_tasks_get_a_sentence():
    space = MetricSpace(nn.Identity(), Cosine(), SupportMeans(dimension=2)).eval()
    sets = {"seen": ITEMS, "more": replace(ITEMS, groups=torch.arange(48) // 4)}
    rows = []
    for name, items in sets.items():
        rows += few_shot(space, items, items.inputs, name=name, shots=(1, 8, 9, 12), tasks=2)
    assert missing_shots(rows, sets, (1, 8, 9, 12, 12)) == [
        "few-shot, seen: not measured with 12 examples, which takes two classes with 13 items or more",
        "few-shot, more: not measured with 9 examples, which takes two classes with 10 items or more, "
        "their groups kept apart",
        "few-shot, more: not measured with 12 examples, which takes two classes with 13 items or more, "
        "their groups kept apart",
    ]
    assert doctest.testmod(sys.modules[missing_shots.__module__]).failed == 0


def a_space(base):
    torch.manual_seed(0)
    space = MetricSpace(nn.Identity(), PairsNetwork(dimension=2, hidden=4), SupportMeans(dimension=2))
    space.fitted = TwoCovariance(dimension=2, normalise=True).fit(ITEMS.inputs, ITEMS.labels)
    space.normalised = neighbourhood(space.scorer(base), ITEMS.inputs[::2], neighbours=3)
    return space.eval()


@torch.no_grad()
@pytest.mark.parametrize("base", ["similarity", "cosine", "fitted"])
def test_scores_of_tasks_together_are_those_of_each_task_alone(base):
    space, z = a_space(base), ITEMS.inputs
    tasks = [(task.support, task.query.flatten()[: 3 + place % 4]) for place, task in enumerate(drawn(ITEMS))]
    for kind in space.kinds:
        scores = list(task_scores(space, z, tasks, kind=kind))
        assert len(scores) == len(tasks)
        for (examples, asked), part in zip(tasks, scores, strict=True):
            means = torch.stack([z[places].mean(0) for places in examples])
            counts = torch.full((len(means),), examples.shape[1])
            alone = space.score_enrolled(means, z[asked], counts, kind=kind)
            torch.testing.assert_close(part, alone, rtol=1e-4, atol=1e-5)


def test_a_cohort_is_mapped_once_for_many_tasks(monkeypatch):
    space = a_space("fitted")
    mapped = []
    monkeypatch.setattr(TwoCovariance, "_transformed", counting(TwoCovariance._transformed, mapped))
    tasks = [(task.support, task.query.flatten()) for task in drawn(ITEMS, tasks=TOGETHER)]
    one, many = [], []
    for used, calls in ((tasks[:1], one), (tasks, many)):
        mapped.clear()
        assert len(list(task_scores(space, ITEMS.inputs, used, kind="normalised"))) == len(used)
        calls += mapped
    assert len(many) == len(one)


def counting(function, calls):
    def counted(*arguments):
        calls.append(arguments)
        return function(*arguments)

    return counted


def test_no_task_has_no_scores():
    assert list(task_scores(a_space("cosine"), ITEMS.inputs, [], kind="cosine")) == []

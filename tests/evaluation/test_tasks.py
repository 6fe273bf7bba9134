"""Tasks whose queries are of other groups than their examples, and as always where there are none."""

from dataclasses import replace

import pytest
import torch

from samekind.data import Items, clusters
from samekind.data.groups import groups_apart
from samekind.evaluation.tasks import drawn_tasks
from samekind.samplers import episodes

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
    assert tasks
    assert across or len(tasks) == 20
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


def test_where_every_draw_fails_there_are_none():
    """Two sites, both with every class: the examples of a task of five classes are of both, nearly always."""
    labels, site = torch.arange(40) // 2, torch.arange(40) % 2
    items = Items(torch.zeros(40, 1), labels, tuple(map(str, range(20))), "sites", groups=site)
    assert drawn(items, way=20, shot=1, queries=1, tasks=3) == []

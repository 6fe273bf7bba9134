"""Episodes: tasks with the numbers asked for, drawn from everything there is."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.errors import SettingError
from samekind.samplers import episodes

LABELS = torch.tensor([3, 5, 8, 9] * 6)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@settings(max_examples=30)
@given(way=st.integers(2, 4), shot=st.integers(1, 3), queries=st.integers(1, 3), seed=st.integers(0, 99))
def test_a_task_has_different_classes_and_different_items_of_each(way, shot, queries, seed):
    tasks = list(episodes(LABELS, way=way, shot=shot, queries=queries, tasks=3, generator=generator(seed)))
    assert len(tasks) == 3
    for classes, support, query in tasks:
        assert (classes.shape, support.shape, query.shape) == ((way,), (way, shot), (way, queries))
        assert len(classes.unique()) == way
        both = torch.cat([support, query], dim=1)
        assert both.dtype == torch.int64
        assert len(both.unique()) == both.numel()
        assert (LABELS[both] == classes[:, None]).all()


def test_every_class_and_item_gets_its_turn_in_both_roles():
    tasks = list(episodes(LABELS, way=2, shot=1, queries=1, tasks=300, generator=generator()))
    assert {int(label) for task in tasks for label in task.classes} == {3, 5, 8, 9}
    for role in ("support", "query"):
        assert {int(index) for task in tasks for index in getattr(task, role).flatten()} == set(range(24))


def test_the_generator_decides():
    one, again, other = (
        [
            task.support.tolist()
            for task in episodes(LABELS, way=2, shot=2, queries=1, tasks=4, generator=generator(seed))
        ]
        for seed in (1, 1, 2)
    )
    assert one == again
    assert one != other


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"way": 5}, "tasks of 5 classes need as many; the items are of 4"),
        ({"shot": 4, "queries": 3}, "4 shots and 3 queries need 7 items of every class; class 3 has 6"),
        ({"way": 1}, "way 1"),
        ({"shot": 0}, "shot 0"),
        ({"queries": 0}, "queries 0"),
        ({"tasks": 0}, "tasks 0"),
    ],
)
def test_refuses_impossible_tasks_at_the_call(wrong, says):
    arguments = {"way": 2, "shot": 1, "queries": 1, "tasks": 1, **wrong}
    with pytest.raises(SettingError, match=says):
        episodes(LABELS, **arguments, generator=generator())

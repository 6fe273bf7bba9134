"""Episodes: tasks with the numbers asked for, drawn from everything there is."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.errors import SettingError
from samekind.samplers import Episodes, episodes, episodes_at_once, stacked

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
        (
            {"shot": 4, "queries": 3},
            r"4 shots and 3 queries need 7 items of every class; these have fewer: class 3 \(6\), "
            r"class 5 \(6\), class 8 \(6\), class 9 \(6\); lower queries to 2, or leave them out",
        ),
        ({"shot": 6, "queries": 1}, r"class 9 \(6\); lower shot, or leave them out"),
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


# --- batches of tasks -----------------------------------------------------------------------------


@settings(max_examples=20)
@given(
    way=st.integers(2, 4),
    shot=st.integers(1, 3),
    queries=st.integers(1, 3),
    tasks=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_a_batch_holds_whole_tasks_in_the_order_of_its_layout(way, shot, queries, tasks, seed):
    sampler = Episodes(LABELS, way=way, shot=shot, queries=queries, tasks=tasks, steps=2, seed=seed)
    layout = sampler.layout
    for batch in sampler.batches(0):
        examples, asked = layout.split(batch)
        assert examples.shape == (tasks, way, shot)
        assert asked.shape == (tasks, way, queries)
        assert torch.equal(batch[layout.support()], examples.flatten())
        for number in range(tasks):
            both = torch.cat([examples[number], asked[number]], dim=1)
            assert torch.equal(batch[layout.task() == number], both.flatten())
            assert len(both.unique()) == both.numel()
            assert all(len(LABELS[row].unique()) == 1 for row in both)
            assert len(LABELS[both].unique()) == way
        classes = LABELS[examples[..., 0]]
        truth = layout.truth().reshape(tasks, way * queries)
        assert torch.equal(classes.gather(1, truth).flatten(), LABELS[asked].flatten())


def test_tasks_that_are_drawn_at_once_use_everything_evenly():
    labels = torch.tensor([0] * 3 + [1] * 7 + [2] * 5)
    drawn = episodes_at_once(labels, way=2, shot=1, queries=2, tasks=3000, generator=generator())
    shown = torch.bincount(drawn.support.flatten(), minlength=15) / 3000
    for label, size in ((0, 3), (1, 7), (2, 5)):
        assert shown[labels == label].tolist() == pytest.approx([2 / 3 / size] * size, abs=0.03)


def test_a_large_class_does_not_make_thousands_of_small_ones_large():
    """A table as wide as the largest class would have 20,000 x 10,000 places."""
    labels = torch.cat([torch.arange(20_000).repeat(2), torch.zeros(10_000, dtype=torch.int64)])
    sampler = Episodes(labels, way=5, shot=1, queries=1, steps=3, seed=0)
    held = [getattr(sampler, name) for name in vars(sampler)]
    tensors = [part for value in held for part in (value if isinstance(value, tuple) else [value])]
    assert sum(part.numel() for part in tensors if isinstance(part, torch.Tensor)) < 4 * len(labels)
    for batch in sampler.batches(0):
        assert labels[batch].reshape(5, 2).diff().eq(0).all()


def test_tasks_that_differ_in_size_are_stacked_apart():
    one = list(episodes(LABELS, way=2, shot=1, queries=1, tasks=2, generator=generator()))
    other = list(episodes(LABELS, way=2, shot=1, queries=2, tasks=1, generator=generator()))
    parts = stacked([one[0], other[0], one[1]])
    assert [places.tolist() for places, _ in parts] == [[0, 2], [1]]
    assert torch.equal(parts[0][1].query, torch.stack([one[0].query, one[1].query]))


def test_a_sampler_refuses_impossible_tasks():
    with pytest.raises(SettingError, match=r"need 7 items of every class; these have fewer: class 3 \(6\)"):
        Episodes(LABELS, way=2, shot=4, queries=3, seed=0)


def test_a_sampler_names_classes_with_too_few_items():
    """With one shot and one query nothing can be lowered."""
    labels, names = torch.tensor([0, 0, 1, 2, 2, 2, 3]), ["owl", "wren", "gull", "kite"]
    says = (
        r"^1 shot and 1 query need 2 items .* fewer: wren \(1\), kite \(1\); give them more items, or leave"
    )
    with pytest.raises(SettingError, match=says):
        Episodes(labels, way=2, shot=1, queries=1, seed=0, names=names)


def test_a_sampler_without_steps_is_refused_for_its_steps():
    with pytest.raises(SettingError, match="at least 1 step; got steps 0"):
        Episodes(LABELS, way=2, steps=0, seed=0)

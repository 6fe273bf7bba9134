"""Groups of items: dealt whole and class by class, torn ones counted, left out where items are compared."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from samekind.data import Items
from samekind.data.groups import (
    OTHER_GROUPS,
    OWN_GROUPS,
    cut_whole,
    deal_groups,
    groups_apart,
    torn_groups,
)
from samekind.data.splits import cut
from samekind.errors import DataError

THREE = {"train": 0.6, "validation": 0.2, "test": 0.2}


def some(labels, groups=None):
    labels = torch.tensor(labels)
    names = tuple("abcdefgh"[: int(labels.max()) + 1]) if len(labels) else ("a",)
    groups = None if groups is None else torch.tensor(groups)
    return Items(torch.zeros(len(labels), 1), labels, names, "some", groups=groups)


@hypothesis_settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=9), min_size=3, max_size=6), st.integers(0, 9)
)
def test_a_class_with_as_many_groups_as_parts_is_in_every_part(sizes, seed):
    """Each class is a list of the sizes of its groups; one with fewer groups is in training at least."""
    labels, groups = [], []
    for label, counts in enumerate(sizes):
        for count in counts:
            groups += [len(set(groups))] * count
            labels += [label] * count
    items = some(labels, groups)
    if all(len(counts) < 3 for counts in sizes):
        return  # some part may have to take a class's only group, to have one at all
    parts = deal_groups(items.groups, items.labels, THREE, torch.arange(len(items)), seed)
    assert sorted(torch.cat(list(parts.values())).tolist()) == list(range(len(items)))
    for label, counts in enumerate(sizes):
        homes = [name for name, part in parts.items() if (items.labels[part] == label).any()]
        assert len(homes) == min(3, len(counts))
        assert "train" in homes


def test_a_class_of_two_groups_does_not_lose_its_training_items():
    """Four classes of twelve groups of four and one of two: dealt over all classes together it had none."""
    labels = [label for label in range(4) for _ in range(48)] + [4] * 8
    items = some(labels, [place // 4 for place in range(200)])
    for seed in range(12):
        parts = deal_groups(items.groups, items.labels, THREE, torch.arange(200), seed)
        counts = {name: torch.bincount(items.labels[part], minlength=5) for name, part in parts.items()}
        assert counts["train"].tolist() == [28, 28, 28, 28, 4]
        assert {count for name in ("validation", "test") for count in counts[name][:4].tolist()} <= {8, 12}
        assert abs(len(parts["validation"]) - len(parts["test"])) <= 4


def test_training_has_the_only_group_of_a_class_however_small_its_part():
    labels = [label for label in range(4) for _ in range(10)] + [4] * 2
    items = some(labels, [place // 2 for place in range(42)])
    for train, validation in ((0.4, 0.1), (0.3, 0.4)):
        fractions = {"train": train, "validation": validation, "test": 1 - train - validation}
        parts = deal_groups(items.groups, items.labels, fractions, torch.arange(42), seed=0)
        assert set(items.labels[parts["train"]].tolist()) == set(range(5))


def test_ties_are_drawn_at_random():
    items = some([0, 1] * 30, [place // 2 for place in range(60)])
    dealt = [deal_groups(items.groups, items.labels, THREE, torch.arange(60), seed) for seed in (0, 0, 1)]
    assert torch.equal(dealt[0]["test"], dealt[1]["test"])
    assert not torch.equal(dealt[0]["test"], dealt[2]["test"])
    assert [len(part) for part in dealt[0].values()] == [36, 12, 12]


def test_refuses_too_few_groups():
    items = some([0, 1, 0, 1], [0, 0, 1, 1])
    with pytest.raises(DataError, match=r"2 groups for 3 parts .* --split random"):
        cut_whole(items, THREE, torch.arange(4), 0)


def test_without_groups_items_are_cut_one_by_one():
    items = some([0, 1, 2] * 20)
    among = torch.arange(5, 55)
    one, other = cut_whole(items, THREE, among, 3), cut(items.labels, THREE, among, 3)
    assert all(torch.equal(one[name], other[name]) for name in THREE)


def over_sites(sites, classes, generator):
    """Classes of a long tail, each at some of the sites: a group holds several of them."""
    labels, groups = [], []
    for label in range(classes):
        there = max(1, int(sites * 0.9**label * 0.6))
        homes = torch.randperm(sites, generator=generator)[:there]
        for _ in range(max(6, int(200 * 0.85**label))):
            labels.append(label)
            groups.append(int(homes[int(torch.randint(0, there, (1,), generator=generator))]))
    return torch.tensor(labels), torch.tensor(groups)


@pytest.mark.parametrize(("sites", "classes"), [(12, 10), (12, 30), (30, 30)])
def test_groups_of_several_classes_leave_every_class_to_train_on(sites, classes):
    generator = torch.Generator().manual_seed(0)
    for seed in range(4):
        labels, groups = over_sites(sites, classes, generator)
        parts = deal_groups(groups, labels, THREE, torch.arange(len(labels)), seed)
        assert sorted(torch.cat(list(parts.values())).tolist()) == list(range(len(labels)))
        assert set(labels[parts["train"]].tolist()) == set(labels.tolist())
        assert all(len(part) for part in parts.values())


@hypothesis_settings(max_examples=60, deadline=None)
@given(st.lists(st.sets(st.integers(0, 4), min_size=1), min_size=3, max_size=6), st.integers(0, 3))
def test_training_has_every_class_whenever_possible(held, seed):
    """Each group is the set of its classes; all ways to deal them are tried."""
    labels = torch.tensor([label for classes in held for label in sorted(classes)])
    groups = torch.tensor([group for group, classes in enumerate(held) for _ in classes])
    parts = deal_groups(groups, labels, THREE, torch.arange(len(labels)), seed)
    assert all(len(part) for part in parts.values())
    every = set().union(*held)
    possible = any(
        set(homes) == {0, 1, 2}
        and set().union(*(classes for classes, home in zip(held, homes, strict=True) if home == 0)) == every
        for homes in itertools.product(range(3), repeat=len(held))
    )
    assert (set(labels[parts["train"]].tolist()) == every) == possible


@pytest.mark.parametrize(
    ("labels", "groups", "asked", "note"),
    [
        ([0, 0, 1, 1], None, [0, 1, 2, 3], ""),
        ([0, 0, 1, 1], [0, 1, 2, 3], [0, 1, 2, 3], OTHER_GROUPS),
        ([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 3], OTHER_GROUPS),  # groups of two classes
        ([0, 0, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3], OWN_GROUPS),  # one class of two would speak for both
        ([0, 0, 1, 1], [5, 5, 9, 9], [0, 1, 2, 3], OWN_GROUPS),  # nothing of one class would be left
        ([0, 0, 1], [0, 1, 2], [0, 1], f"{OTHER_GROUPS}, 1 of 2 classes have another"),  # one has no pair
        (
            [0, 0, 1, 1, 2, 2, 3, 3],
            [0, 1, 2, 3, 4, 5, 6, 6],
            [0, 1, 2, 3, 4, 5],
            f"{OTHER_GROUPS}, 3 of 4 classes have another",
        ),
        ([0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 2, 3, 4, 4, 6, 6], list(range(8)), OWN_GROUPS),
        (
            [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6],  # three of seven are not half of them
            [0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 8, 8, 9, 9],
            None,
            OWN_GROUPS,
        ),
        ([], [], [], OWN_GROUPS),
    ],
)
def test_own_groups_are_left_out_where_enough_classes_have_another(labels, groups, asked, note):
    items = (
        some(labels, groups)
        if labels
        else Items(
            torch.zeros(0, 1), torch.zeros(0, dtype=torch.int64), ("a",), "none", groups=torch.zeros(0)
        )
    )
    result = groups_apart(items)
    assert result.queries.tolist() == (list(range(len(labels))) if asked is None else asked)
    assert result.note == note
    assert result.named("x") == (f"x, {note}" if note else "x")
    apart = note.startswith(OTHER_GROUPS)
    assert (result.groups is not None) == apart
    assert result.marks.tolist() == (groups if apart else list(range(len(labels))))


def test_groups_in_several_parts_are_counted_once():
    parts = {
        "train": some([0, 1, 0], [0, 1, 2]),
        "test": some([0, 1, 1], [1, 2, 2]),
        "unseen": some([0], [2]),
    }
    assert torn_groups(parts) == (2, 3)
    assert torn_groups({"train": some([0, 1])}) == (0, 0)

"""Splits that hold back groups, domains or published parts: what belongs together is never torn apart."""

import dataclasses

import pytest
import torch
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from samekind.data import Items, by_domain, by_group, by_part
from samekind.data.held_out import domain_indices, domain_names, remaining
from samekind.errors import DataError, SettingError

THREE = {"train": 0.6, "validation": 0.2, "test": 0.2}


def items_with(**beside):
    count = len(next(iter(beside.values())))
    indices = torch.arange(count)
    return Items(indices[:, None].float(), indices % 2, ("a", "b"), "some", **beside)


def every_item_once(split, count):
    return sorted(index for part in split.parts.values() for index in part.tolist()) == list(range(count))


@hypothesis_settings(max_examples=25)
@given(st.lists(st.integers(0, 9), min_size=12, max_size=60), st.integers(0, 9))
def test_no_group_is_in_two_parts(groups, seed):
    items = items_with(groups=torch.tensor(groups))
    if len(set(groups)) < 3:
        with pytest.raises(DataError, match=r"groups? for 3 parts \(train, validation, test\)"):
            by_group(items, THREE, seed=seed)
        return
    split = by_group(items, THREE, seed=seed)
    assert every_item_once(split, len(groups))
    homes = {}
    for name, part in split.parts.items():
        assert len(part)
        for index in part.tolist():
            assert homes.setdefault(groups[index], name) == name


def test_many_small_groups_meet_the_fractions():
    items = items_with(groups=torch.arange(300) // 3)
    split = by_group(items, THREE, seed=0)
    assert {name: len(part) for name, part in split.parts.items()} == {
        "train": 180,
        "validation": 60,
        "test": 60,
    }
    again, other = by_group(items, THREE, seed=0), by_group(items, THREE, seed=1)
    assert torch.equal(split.parts["test"], again.parts["test"])
    assert not torch.equal(split.parts["test"], other.parts["test"])


def test_the_test_domains_are_the_test_set():
    items = items_with(domains=torch.arange(60) % 3, domain_names=("photo", "sketch", "clay"))
    split = by_domain(items, test_domains=["sketch"], fractions=THREE, seed=0)
    assert split.parts["test"].tolist() == [index for index in range(60) if index % 3 == 1]
    assert every_item_once(split, 60)
    assert (len(split.parts["train"]), len(split.parts["validation"])) == (30, 10)  # 3 to 1
    both = by_domain(items, test_domains=["sketch", "clay"], fractions=THREE, seed=0)
    assert len(both.parts["test"]) == 40


def test_domains_without_names_go_by_their_numbers():
    items = items_with(domains=torch.tensor([5, 7] * 10))
    assert domain_indices(items, ["7"]).tolist() == [7]
    assert domain_names(items) == ("5", "7")


def test_published_parts_are_kept_under_our_names():
    items = items_with(domains=torch.zeros(6))
    items = dataclasses.replace(items, parts=("Train", "val", "TEST", "training", "dev", "test"))
    split = by_part(items, THREE, seed=0)
    assert {name: part.tolist() for name, part in split.parts.items()} == {
        "train": [0, 3],
        "validation": [1, 4],
        "test": [2, 5],
    }


def test_a_missing_validation_part_is_cut_out_of_the_training_part():
    items = items_with(parts=("train",) * 80 + ("test",) * 20)
    split = by_part(items, THREE, seed=0)
    assert split.parts["test"].tolist() == list(range(80, 100))
    assert (len(split.parts["train"]), len(split.parts["validation"])) == (60, 20)
    assert every_item_once(split, 100)


def shared_groups(items, split, one, other):
    return set(items.groups[split.parts[one]].tolist()) & set(items.groups[split.parts[other]].tolist())


def test_validation_is_cut_out_of_published_parts_and_domains_in_whole_groups():
    groups = torch.arange(120) // 6
    items = items_with(
        groups=groups,
        parts=("train",) * 90 + ("test",) * 30,
        domains=(torch.arange(120) >= 90).long(),
        domain_names=("photo", "sketch"),
    )
    for split in (
        by_part(items, THREE, seed=0),
        by_domain(items, test_domains=["sketch"], fractions=THREE, seed=0),
    ):
        assert split.parts["test"].tolist() == list(range(90, 120))
        assert every_item_once(split, 120)
        assert not shared_groups(items, split, "train", "validation")
        assert 18 <= len(split.parts["validation"]) <= 24


def test_refuses_a_class_that_is_partly_unseen():
    parts = ["train", "test", "train", "test"] * 10
    items = items_with(parts=tuple(parts))
    whole = dataclasses.replace(items, parts=tuple("unseen" if place % 2 else "train" for place in range(40)))
    assert len(by_part(whole, THREE, seed=0).parts["unseen"]) == 20
    parts[2] = "unseen"
    torn = dataclasses.replace(items, parts=tuple(parts))
    with pytest.raises(DataError, match=r'1 class of some has .* "a" has 1 unseen and 19 others'):
        by_part(torn, THREE, seed=0)


def test_the_remaining_fractions_sum_to_1():
    assert remaining(THREE, without="test") == pytest.approx({"train": 0.75, "validation": 0.25})
    with pytest.raises(SettingError, match='a fraction beside "test"'):
        remaining({"test": 1.0}, without="test")


@pytest.mark.parametrize(
    ("split", "says"),
    [
        (lambda items: by_group(items, THREE, seed=0), "some has no groups to keep together"),
        (lambda items: by_domain(items, test_domains=["x"], fractions=THREE, seed=0), "some has no domains"),
        (lambda items: by_part(items, THREE, seed=0), "does not say which part an item belongs to"),
    ],
)
def test_refuses_items_without_groups_domains_or_parts(split, says):
    items = Items(torch.zeros(4, 2), torch.tensor([0, 0, 1, 1]), ("a", "b"), "some")
    with pytest.raises(DataError, match=says):
        split(items)


def test_refuses_impossible_domains_and_parts():
    items = items_with(domains=torch.arange(6) % 2, domain_names=("photo", "sketch"))
    with pytest.raises(DataError, match='no domain "foto"; did you mean "photo"'):
        by_domain(items, test_domains=["foto"], fractions=THREE, seed=0)
    with pytest.raises(SettingError, match="6 of 6 items are of the test domains"):
        by_domain(items, test_domains=["photo", "sketch"], fractions=THREE, seed=0)
    with pytest.raises(DataError, match='items of a part "trian"; did you mean "train"'):
        by_part(items_with(parts=("trian", "test")), THREE, seed=0)
    with pytest.raises(DataError, match="no items of the part train; it has test"):
        by_part(items_with(parts=("test", "test")), THREE, seed=0)

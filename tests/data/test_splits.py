"""Splits: every item in one part, every class in its fractions, and no split for other items."""

import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.data import Items, Split, clusters, stratified
from samekind.data.split_settings import SplitSettings, split_items
from samekind.data.splits import apportion, of_classes
from samekind.errors import DataError, SettingError

THREE = {"train": 0.7, "validation": 0.15, "test": 0.15}


def items_of(*counts):
    """Items with the given number in each class, dealt out in turns so that classes are mixed."""
    labels = torch.tensor(
        [label for label, count in enumerate(counts) for _ in range(count)], dtype=torch.int64
    )
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(1))
    names = tuple(f"class {label}" for label in range(len(counts)))
    return Items(inputs=order[:, None].float(), labels=labels[order], classes=names, name="counted")


def counts_of(items, indices):
    return torch.bincount(items.labels[indices], minlength=len(items.classes)).tolist()


@settings(max_examples=40)
@given(
    counts=st.lists(st.integers(1, 25), min_size=1, max_size=5),
    weights=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    seed=st.integers(0, 1000),
)
def test_every_item_is_in_one_part_and_every_class_in_its_fractions(counts, weights, seed):
    fractions = {f"part {place}": weight / sum(weights) for place, weight in enumerate(weights)}
    items = items_of(*counts)
    split = stratified(items, fractions, seed=seed)
    assert list(split.parts) == list(fractions)
    assert sorted(torch.cat(list(split.parts.values())).tolist()) == list(range(len(items)))
    for name, fraction in fractions.items():
        part = split.parts[name]
        assert part.dtype == torch.int64
        assert part.tolist() == sorted(part.tolist())
        for got, count in zip(counts_of(items, part), counts, strict=True):
            if count >= len(fractions):
                assert got >= 1
            # Rounding moves less than one item, and filling the empty parts at most one for each.
            assert abs(got - fraction * count) < len(fractions) + 1e-6


def test_shares_are_exact_if_possible():
    items = items_of(20, 40, 60)
    split = stratified(items, THREE, seed=0)
    assert counts_of(items, split.parts["train"]) == [14, 28, 42]
    assert counts_of(items, split.parts["validation"]) == [3, 6, 9]
    assert counts_of(items, split.parts["test"]) == [3, 6, 9]


def test_ties_fall_to_every_part():
    """Ten items give two parts 1.5 each: a hundred classes must not all favour the same one."""
    split = stratified(items_of(*[10] * 100), THREE, seed=0)
    assert len(split.parts["train"]) == 700
    assert 120 <= len(split.parts["validation"]) <= 180


@pytest.mark.parametrize(
    ("total", "fractions", "counts"),
    [
        (10, [0.6, 0.4], [6, 4]),
        (100, [0.29, 0.71], [29, 71]),
        (7, [0.5, 0.3, 0.2], [4, 2, 1]),  # 3.5, 2.1, 1.4
        (3, [0.98, 0.01, 0.01], [1, 1, 1]),
        (4, [0.98, 0.01, 0.01], [2, 1, 1]),
        (2, [0.8, 0.1, 0.1], [2, 0, 0]),
        (1, [0.2, 0.8], [0, 1]),
        (0, [0.2, 0.8], [0, 0]),
    ],
)
def test_whole_numbers_by_largest_remainder(total, fractions, counts):
    assert apportion(total, fractions, generator=torch.Generator().manual_seed(0)) == counts


def test_ties_are_drawn_at_random_despite_rounding():
    """46.5 and 3.5, but 0.07 * 50 is 3.5000000000000004."""
    generator = torch.Generator().manual_seed(0)
    drawn = {tuple(apportion(50, [0.93, 0.07], generator=generator)) for _ in range(30)}
    assert drawn == {(47, 3), (46, 4)}


def test_the_seed_decides_and_nothing_else():
    items = items_of(30, 30)
    torch.manual_seed(0)
    one = stratified(items, THREE, seed=5)
    torch.manual_seed(1)
    again = stratified(items, THREE, seed=5)
    other = stratified(items, THREE, seed=6)
    assert all(torch.equal(one.parts[name], again.parts[name]) for name in THREE)
    assert not torch.equal(one.parts["train"], other.parts["train"])


@pytest.mark.parametrize(
    ("fractions", "says"),
    [
        ({"train": 0.7, "test": 0.2}, "sum to 1; got train 0.7, test 0.2"),
        ({"train": 1.0, "test": 0.0}, "above 0"),
        ({"train": 1.2, "test": -0.2}, "above 0"),
        ({"train": float("nan")}, "above 0"),
        ({}, "sum to 1; got none"),
    ],
)
def test_refuses_fractions_that_do_not_sum_to_1(fractions, says):
    items = items_of(4, 4)
    with pytest.raises(SettingError, match=says):
        stratified(items, fractions, seed=0)


def test_unseen_classes_are_whole_and_nowhere_else():
    items = items_of(10, 20, 30, 40)
    settings = SplitSettings(unseen=("class 3", "class 1"), fractions={"train": 0.8, "test": 0.2})
    split = split_items(items, settings)
    assert list(split.parts) == ["train", "test", "unseen"]
    assert counts_of(items, split.parts["unseen"]) == [0, 20, 0, 40]
    assert counts_of(items, split.parts["train"]) == [8, 0, 24, 0]
    assert counts_of(items, split.parts["test"]) == [2, 0, 6, 0]


@pytest.mark.parametrize(
    ("unseen", "error", "says"),
    [
        (["class 9"], DataError, 'no class "class 9"'),
        ([], SettingError, "0 of 6 items are unseen"),
        (["class 0", "class 1"], SettingError, "6 of 6 items are unseen"),
    ],
)
def test_refuses_unseen_classes_that_leave_nothing_to_compare(unseen, error, says):
    with pytest.raises(error, match=says):
        of_classes(items_of(3, 3), unseen)


def test_parts_share_no_item():
    with pytest.raises(DataError, match="item 2 is in one and other"):
        Split(parts={"one": torch.tensor([1, 2]), "other": torch.tensor([2, 3])}, fingerprint="")


def test_comes_back_from_disk(tmp_path):
    items = items_of(5, 6)
    split = stratified(items, {"train": 0.5, "test": 0.5}, seed=3)
    split.save(tmp_path / "split.json")
    loaded = Split.load(tmp_path / "split.json", items)
    assert list(loaded.parts) == list(split.parts)
    for name, part in split.parts.items():
        assert loaded.parts[name].dtype == torch.int64
        assert loaded.parts[name].tolist() == part.tolist()


def test_an_empty_part_comes_back_too(tmp_path):
    items = items_of(1)
    stratified(items, {"train": 0.9, "test": 0.1}, seed=0).save(tmp_path / "split.json")
    loaded = Split.load(tmp_path / "split.json", items)
    assert loaded.parts["test"].tolist() == []
    assert loaded.parts["test"].dtype == torch.int64


def test_refuses_the_split_of_another_data_set(tmp_path):
    items = clusters(classes=2, items=3, dimension=2, seed=0)
    other = clusters(classes=2, items=3, dimension=2, seed=1)
    stratified(items, {"train": 1.0}, seed=0).save(tmp_path / "split.json")
    with pytest.raises(DataError, match=r"split\.json splits another data set than clusters"):
        Split.load(tmp_path / "split.json", other)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"fingerprint": "x", "parts": {"train": ["a"]}}',
        '{"fingerprint": "x", "parts": 3}',
        '{"fingerprint": "x", "parts": {"train": [1e308]}}',
    ],
)
def test_refuses_a_file_that_is_not_a_split(tmp_path, content):
    path = tmp_path / "split.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match="is not a split"):
        Split.load(path, items_of(2))


@pytest.mark.parametrize("part", [[0, 4], [-1], [[0, 1]], 3])
def test_refuses_indices_out_of_range(tmp_path, part):
    items = items_of(2, 2)
    path = tmp_path / "split.json"
    path.write_text(
        json.dumps({"fingerprint": items.fingerprint(), "parts": {"train": part}}), encoding="utf-8"
    )
    with pytest.raises(DataError, match="must list items 0 to 3"):
        Split.load(path, items)


def test_refuses_a_missing_file(tmp_path):
    with pytest.raises(DataError, match="there is no split at"):
        Split.load(tmp_path / "none.json", items_of(2))


def test_settings_come_back_from_disk(tmp_path):
    items = clusters(classes=2, items=4, dimension=2)
    split = Split({"train": torch.arange(8)}, items.fingerprint(), {"by": "random", "seed": 2})
    split.save(tmp_path / "split.json")
    assert Split.load(tmp_path / "split.json", items).settings == {"by": "random", "seed": 2}
    before = {"fingerprint": items.fingerprint(), "parts": {"train": [0, 1]}}
    (tmp_path / "split.json").write_text(json.dumps(before))
    assert Split.load(tmp_path / "split.json", items).settings is None

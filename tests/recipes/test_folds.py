"""Folds: every class is held out once, whole branches together, and few classes item by item."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from samekind.data import Items, clusters
from samekind.recipes.folds import FOLDS, class_folds
from samekind.taxonomy import tree_of_paths


def items_of(names, per_class=3, paths=None):
    labels = torch.arange(len(names)).repeat_interleave(per_class)
    tree = tree_of_paths(paths) if paths else None
    return Items(torch.rand(len(labels), 2), labels, tuple(names), "items", tree=tree)


@given(classes=st.integers(6, 40), seed=st.integers(0, 5))
def test_every_class_is_held_out_once_and_as_a_whole(classes, seed):
    items = items_of([f"class {number}" for number in range(classes)])
    folds = class_folds(items, seed=seed)
    assert folds.by_class
    assert 3 <= len(folds.parts) <= FOLDS
    held = torch.cat([fold.held_out for fold in folds.parts])
    assert sorted(held.tolist()) == list(range(len(items)))
    for fold in folds.parts:
        assert sorted([*fold.fitted.tolist(), *fold.held_out.tolist()]) == list(range(len(items)))
        assert not set(items.labels[fold.fitted].tolist()) & set(items.labels[fold.held_out].tolist())
        assert len(torch.unique(items.labels[fold.held_out])) >= 2
    numbers = folds.numbers(len(items))
    for number, fold in enumerate(folds.parts):
        assert torch.equal((numbers == number).nonzero().flatten(), fold.held_out)


def branch(name):
    return name.partition("/")[0]


def test_branches_stay_together():
    names = [f"{alphabet}/{letter}" for alphabet in "ABCDEFGHIJ" for letter in range(2 + ord(alphabet) % 3)]
    items = items_of(names)
    folds = class_folds(items)
    assert folds.words.endswith("by whole branches of 10")
    for fold in folds.parts:
        held, fitted = (
            {branch(names[label]) for label in items.labels[part].tolist()}
            for part in (fold.held_out, fold.fitted)
        )
        assert not held & fitted


def test_the_coarsest_level_with_branches_enough_is_taken():
    names = [f"bird {number}" for number in range(48)]
    paths = {
        name: [f"order {n // 24}", f"family {n // 4}", f"genus {n // 2}", name]
        for n, name in enumerate(names)
    }
    assert class_folds(items_of(names, paths=paths)).words.endswith("by whole branches of 12")
    of_two = {name: [f"order {n // 24}", name] for n, name in enumerate(names)}
    assert "branches" not in class_folds(items_of(names, paths=of_two)).words


def test_a_tree_goes_before_branches_in_names():
    names = [f"bird/{number}" for number in range(24)]
    paths = {name: ["birds", f"family {n // 2}", name] for n, name in enumerate(names)}
    assert class_folds(items_of(names, paths=paths)).words.endswith("by whole branches of 12")


def test_a_class_of_one_item_is_always_fitted_to():
    labels = torch.tensor([0, *torch.arange(1, 8).repeat_interleave(4).tolist()])
    items = Items(torch.rand(len(labels), 2), labels, tuple("abcdefgh"), "items")
    assert all(0 in fold.fitted.tolist() for fold in class_folds(items).parts)


def test_of_few_classes_items_are_held_out():
    items = clusters(classes=5, items=9, dimension=2)
    folds = class_folds(items)
    assert not folds.by_class
    assert "too few to hold out" in folds.words
    for fold in folds.parts:
        assert torch.bincount(items.labels[fold.held_out]).tolist() == [3] * 5


@pytest.mark.parametrize("classes", [4, 12])
def test_a_seed_means_the_same_folds(classes):
    items = clusters(classes=classes, items=4, dimension=2)
    one, same, other = (class_folds(items, seed=seed).parts for seed in (0, 0, 1))
    assert all(torch.equal(a.held_out, b.held_out) for a, b in zip(one, same, strict=True))
    assert not all(torch.equal(a.held_out, b.held_out) for a, b in zip(one, other, strict=True))


def test_of_few_classes_the_hardest_are_held_out_together_and_first():
    """Eight directions in four pairs; the pairs are the closer, the lower their numbers."""
    angles = torch.tensor([0.0, 0.1, 1.5, 1.7, 3.0, 3.3, 4.5, 4.9])
    labels = torch.arange(8).repeat_interleave(5)
    angles = angles[labels] + 0.05 * torch.tensor([-2, -1, 0, 1, 2]).repeat(8)
    features = torch.stack([angles.cos(), angles.sin()], 1)
    items = Items(features, labels, tuple("abcdefgh"), "items")
    folds = class_folds(items, seed=3, features=features)
    held = [torch.unique(labels[fold.held_out]).tolist() for fold in folds.parts]
    assert held == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert folds.few
    assert folds.words == "4 folds of 2 classes not fitted to, the hardest to tell apart together"


@given(classes=st.integers(6, 19), seed=st.integers(0, 5))
def test_the_hardest_folds_hold_every_class_once(classes, seed):
    items = items_of([str(number) for number in range(classes)])
    generator = torch.Generator().manual_seed(seed)
    folds = class_folds(items, features=torch.randn(len(items), 3, generator=generator))
    held = [torch.unique(items.labels[fold.held_out]).tolist() for fold in folds.parts]
    assert sorted(label for part in held for label in part) == list(range(classes))
    assert max(map(len, held)) - min(map(len, held)) <= 1


def test_many_classes_and_branches_are_dealt_as_before():
    many = items_of([str(number) for number in range(20)])
    branches = items_of([f"{letter}/{number}" for letter in "ABCDEFGH" for number in range(2)])
    for items, few in ((many, False), (branches, True)):
        plain, given_features = (
            class_folds(items, features=features) for features in (None, torch.rand(len(items), 2))
        )
        assert plain.words == given_features.words
        assert (plain.few, given_features.few) == (few, few)
        for one, other in zip(plain.parts, given_features.parts, strict=True):
            assert torch.equal(one.held_out, other.held_out)


def test_of_few_classes_each_fold_has_items_of_every_group():
    items = items_of(["a", "b"], per_class=6)
    folds = class_folds(replace(items, groups=torch.arange(12) // 3))
    assert not folds.by_class
    for fold in folds.parts:
        assert sorted((fold.held_out // 3).tolist()) == [0, 1, 2, 3]


def test_branches_of_a_given_depth_are_held_out_whole():
    """The coarsest level would hold out the first order, half of all classes, at once."""
    paths = [("life", "order 0" if k < 12 else f"order {k}", f"family {k // 2}", f"{k}") for k in range(24)]
    tree = tree_of_paths({path[-1]: path for path in paths})
    labels = torch.arange(24).repeat_interleave(2)
    items = Items(torch.zeros(48, 1), labels, tuple(f"{k}" for k in range(24)), "birds", tree=tree)
    sizes = {}
    for depth in (None, 3):
        folds = class_folds(items, depth=depth).parts
        held_out = [set(labels[fold.held_out].tolist()) for fold in folds]
        sizes[depth] = [len(classes) for classes in held_out]
        if depth == 3:
            for classes in held_out:
                assert all(label ^ 1 in classes for label in classes if label < 12)
    assert sizes == {None: [12, 4, 4, 4], 3: [6, 6, 6, 6]}

"""The settings of a split: there and back, every way to divide, and what cannot be asked together."""

import dataclasses
import json

import pytest
import torch

from samekind.data import Items, SplitSettings, stratified
from samekind.data.split_settings import FRACTIONS, split_items, unseen_classes
from samekind.data.splits import cut
from samekind.errors import DataError, SettingError

NAMES = ("ant", "bee", "cat", "dog", "emu")


def numbered(count=100, **beside):
    indices = torch.arange(count)
    return Items(indices[:, None].float(), indices % 5, NAMES, "numbers", **beside)


def classes_of(items, part):
    return {items.classes[label] for label in items.labels[part].tolist()}


@pytest.mark.parametrize(
    "settings",
    [
        SplitSettings(),
        SplitSettings(by="domain", test_domains=("photo",), unseen=("bee",), seed=3),
        SplitSettings(unseen="half", validation_classes=0.2, fractions={"train": 0.8, "test": 0.2}),
    ],
)
def test_goes_through_json_and_back(settings):
    assert SplitSettings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"bye": "random"}, r'split: there is no setting "bye"; did you mean "by"'),
        ({"by": "chance"}, r'split\.by: "chance" is not a choice; .*Known: domain, group, part, random'),
        ({"unseen": "third"}, r'split\.unseen: expected a list of texts or "half" or "random-half"; got'),
        ({"by": "domain"}, r"split\.test_domains: name one or more"),
        ({"test_domains": ["photo"]}, r"split\.test_domains: name one or more"),
        ({"by": "domain", "test_domains": "photo"}, r"split\.test_domains: expected a list of texts"),
        ({"validation_classes": -1}, r"split\.validation_classes"),
        ({"validation_classes": "few"}, r"split\.validation_classes"),
        ({"validation_classes": 1, "by": "part"}, r'only where split\.by is "random" or "group"'),
        ({"unseen": 3}, r"split\.unseen: expected a list of texts or .* got 3"),
        ({"unseen": [7, 8]}, r"split\.unseen: expected a list of texts or .* got \[7, 8\]"),
        ({"by": "domain", "test_domains": 3}, r"split\.test_domains: expected a list of texts, got 3"),
        ({"seed": "x"}, r"split\.seed: expected a whole number, got 'x'"),
        ({"fractions": 3}, r"split\.fractions: expected a table of settings, got 3"),
        ({"fractions": {"train": "most"}}, r"split\.fractions\.train: expected a number, got 'most'"),
        ({"fractions": {"trian": 1.0}}, r'split\.fractions: no part "trian"; did you mean "train"'),
    ],
)
def test_refuses_a_wrong_value(table, says):
    with pytest.raises(SettingError, match=says):
        SplitSettings.from_dict(table)


def test_random_splits_are_those_of_older_runs():
    """Runs from before there were settings must find their splits again."""
    items = numbered()
    plain, old = split_items(items, SplitSettings(seed=3)), stratified(items, FRACTIONS, seed=3)
    apart = split_items(items, SplitSettings(seed=3, unseen=("bee",)))
    bees = items.labels == NAMES.index("bee")
    old_apart = cut(items.labels, FRACTIONS, (~bees).nonzero().flatten(), 3)
    old_apart["unseen"] = bees.nonzero().flatten()
    for one, other in ((plain.parts, old.parts), (apart.parts, old_apart)):
        assert one.keys() == other.keys()
        assert all(torch.equal(one[name], other[name]) for name in one)


def test_half_is_the_second_half_in_class_order():
    assert unseen_classes(numbered(), SplitSettings(unseen="half")) == ["dog", "emu"]
    without_bee = numbered().only(["ant", "cat", "dog", "emu"])
    with_empty = dataclasses.replace(without_bee, classes=("ant", "cat", "dog", "emu", "fox"))
    assert unseen_classes(with_empty, SplitSettings(unseen="half")) == ["dog", "emu"]


def test_a_random_half_goes_by_the_seed():
    drawn = [unseen_classes(numbered(), SplitSettings(unseen="random-half", seed=seed)) for seed in range(12)]
    assert all(len(draw) == 2 for draw in drawn)
    assert len({tuple(draw) for draw in drawn}) > 3
    assert drawn[4] == unseen_classes(numbered(), SplitSettings(unseen="random-half", seed=4))


def test_validation_classes_are_in_no_other_part():
    items = numbered()
    split = split_items(items, SplitSettings(unseen="half", validation_classes=1, seed=2))
    assert set(split.parts) == {"train", "test", "validation_classes", "unseen"}
    chosen = classes_of(items, split.parts["validation_classes"])
    assert len(chosen) == 1
    assert classes_of(items, split.parts["train"]) == classes_of(items, split.parts["test"])
    assert not chosen & classes_of(items, split.parts["train"])
    assert len(split.parts["train"]) == 30  # 0.6 to 0.2 of two classes of twenty
    assert classes_of(items, split.parts["unseen"]) == {"dog", "emu"}
    share = split_items(items, SplitSettings(validation_classes=0.4))
    assert len(classes_of(items, share.parts["validation_classes"])) == 2


@pytest.mark.parametrize(
    ("count", "says"), [(5, "leaves none to train with"), (1.5, "a whole number of classes")]
)
def test_refuses_impossible_validation_classes(count, says):
    with pytest.raises(SettingError, match=says):
        split_items(numbered(), SplitSettings(validation_classes=count))


@pytest.mark.parametrize("by", ["group", "domain", "part"])
def test_unseen_classes_are_held_back_in_every_kind_of_split(by):
    items = numbered(
        groups=torch.arange(100) % 5 * 100 + torch.arange(100) // 10,
        domains=torch.arange(100) // 50,
        domain_names=("photo", "sketch"),
        parts=("train",) * 50 + ("test",) * 50,
    )
    domains = ("sketch",) if by == "domain" else ()
    split = split_items(items, SplitSettings(by=by, unseen=("bee", "emu"), test_domains=domains))
    assert classes_of(items, split.parts["unseen"]) == {"bee", "emu"}
    assert set(split.parts) == {"train", "validation", "test", "unseen"}
    assert sorted(index for part in split.parts.values() for index in part.tolist()) == list(range(100))
    for name in ("train", "validation", "test"):
        assert not classes_of(items, split.parts[name]) & {"bee", "emu"}
    if by != "group":
        assert all(index >= 50 for index in split.parts["test"].tolist())


def test_refuses_a_group_of_seen_and_unseen_classes():
    items = numbered(groups=torch.arange(100) // 10)
    with pytest.raises(DataError, match="10 groups of numbers have items of seen and of unseen classes"):
        split_items(items, SplitSettings(by="group", unseen=("bee",)))


def test_validation_classes_are_cut_out_by_group_too():
    groups = torch.arange(100) % 5 * 100 + torch.arange(100) // 10  # ten items of two in each class
    items = numbered(groups=groups)
    split = split_items(items, SplitSettings(by="group", validation_classes=1, seed=2))
    assert set(split.parts) == {"train", "test", "validation_classes"}
    assert sorted(index for part in split.parts.values() for index in part.tolist()) == list(range(100))
    homes = [set(groups[part].tolist()) for part in split.parts.values()]
    assert sum(map(len, homes)) == len(set.union(*homes))
    with pytest.raises(DataError, match="groups of numbers have items of seen and of validation classes"):
        split_items(numbered(groups=torch.arange(100) // 10), SplitSettings(by="group", validation_classes=1))


def test_refuses_a_class_without_training_items():
    """Three groups of one class each are too few for three parts with each class in training."""
    labels = torch.tensor([0, 0, 1, 1] * 10 + [2, 2])
    items = Items(torch.zeros(42, 1), labels, ("ant", "bee", "cat"), "some", groups=labels)
    says = r"split by group, .* no item to train on, .*\(\d+ items\).* another seed, .*: --split random"
    with pytest.raises(DataError, match=says):
        split_items(items, SplitSettings(by="group"))
    assert set(split_items(items, SplitSettings()).parts) == {"train", "validation", "test"}


@pytest.mark.parametrize("by", ["part", "domain"])
def test_published_parts_and_domains_may_have_classes_of_their_own(by):
    """Trained on some classes and tested on others: the protocol of most retrieval benchmarks."""
    labels, late = torch.arange(40) // 4, torch.arange(40) // 20
    items = Items(
        torch.zeros(40, 1),
        labels,
        tuple(f"person {place}" for place in range(10)),
        "people",
        parts=tuple("test" if is_late else "train" for is_late in late.tolist()),
        domains=late,
        domain_names=("photo", "sketch"),
    )
    domains = ("sketch",) if by == "domain" else ()
    split = split_items(items, SplitSettings(by=by, test_domains=domains))
    assert set(labels[split.parts["train"]].tolist()) == {0, 1, 2, 3, 4}
    assert split.parts["test"].tolist() == list(range(20, 40))


def test_a_split_keeps_its_settings():
    for settings in (SplitSettings(seed=3), SplitSettings(unseen=("bee",))):
        assert split_items(numbered(), settings).settings == settings.to_dict()


def test_refuses_to_hold_back_nothing_or_everything():
    with pytest.raises(SettingError, match="100 of 100 items are unseen"):
        split_items(numbered(), SplitSettings(unseen=NAMES))
    with pytest.raises(DataError, match="half of the classes cannot be held back: numbers has 1"):
        split_items(numbered().only(["ant"]), SplitSettings(unseen="half"))


def in_branches(**beside):
    indices = torch.arange(100)
    names = ("a/one", "a/two", "b/one", "b/two", "c")
    return Items(indices[:, None].float(), indices % 5, names, "numbers", **beside)


def test_whole_branches_are_held_back_and_validate():
    items = in_branches()
    settings = SplitSettings(unseen=("b",), validation_classes=("a/two", "c"))
    parts = split_items(items, settings).parts
    assert classes_of(items, parts["unseen"]) == {"b/one", "b/two"}
    assert classes_of(items, parts["validation_classes"]) == {"a/two", "c"}
    assert classes_of(items, parts["train"]) == classes_of(items, parts["test"]) == {"a/one"}
    assert SplitSettings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings


@pytest.mark.parametrize("names", [("a", "b", "c"), ("a", "c")])
def test_validation_classes_leave_some_to_train_with(names):
    with pytest.raises(SettingError, match="others to train with"):
        split_items(in_branches(), SplitSettings(unseen=("b",), validation_classes=names))


def test_unknown_validation_classes_are_refused():
    with pytest.raises(DataError, match='has no class "d"'):
        split_items(in_branches(), SplitSettings(validation_classes=("d",)))

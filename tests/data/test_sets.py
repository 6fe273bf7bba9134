"""The sets of an experiment: every item in one of them, under its own name, and none shown too early."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from samekind.data import Items, Split, SplitSettings, divide, prepare
from samekind.errors import DataError, SettingError

NAMES = ("ant", "bee", "cat", "dog")
PARTS = ("train", "validation", "test", "unseen")


def numbered(count=40):
    """Items that can be told apart: the input of item i is i, its class i modulo 4."""
    indices = torch.arange(count)
    return Items(inputs=indices[:, None].float(), labels=indices % 4, classes=NAMES, name="numbers")


def numbers(items):
    return [int(image) for image in items.inputs[:, 0]]


def filled(sets):
    return {name: getattr(sets, name) for name in PARTS if getattr(sets, name) is not None}


@pytest.fixture(params=[(), ("bee",), ("dog", "ant")], ids=["none", "one", "two"])
def unseen(request):
    return request.param


def test_every_item_is_in_one_set(unseen):
    sets = prepare(numbered(), unseen=unseen, seed=0)
    assert sorted(number for items in filled(sets).values() for number in numbers(items)) == list(range(40))


def test_the_first_three_hold_the_seen_classes_and_unseen_the_others(unseen):
    sets = prepare(numbered(), unseen=unseen, seed=0)
    seen = tuple(name for name in NAMES if name not in unseen)
    for name in ("train", "validation", "test"):
        assert getattr(sets, name).classes == seen
    if unseen:
        assert sets.unseen.classes == tuple(name for name in NAMES if name in unseen)
        assert sorted(numbers(sets.unseen)) == [n for n in range(40) if NAMES[n % 4] in unseen]
    else:
        assert sets.unseen is None


def test_every_item_keeps_the_name_of_its_class(unseen):
    """Labels are counted anew where classes are left out; what they mean must not change."""
    for items in filled(prepare(numbered(), unseen=unseen, seed=0)).values():
        assert [items.classes[label] for label in items.labels] == [NAMES[n % 4] for n in numbers(items)]


def test_each_class_is_cut_in_the_fractions(unseen):
    sets = prepare(numbered(), unseen=unseen, seed=0)
    for items, share in ((sets.train, 6), (sets.validation, 2), (sets.test, 2)):
        assert torch.bincount(items.labels).tolist() == [share] * (4 - len(unseen))
    halves = prepare(
        numbered(), unseen=unseen, fractions={"train": 0.5, "validation": 0.1, "test": 0.4}, seed=0
    )
    assert torch.bincount(halves.test.labels).tolist() == [4] * (4 - len(unseen))


@hypothesis_settings(max_examples=20)
@given(unseen=st.sets(st.sampled_from(NAMES), max_size=3), count=st.integers(20, 60), seed=st.integers(0, 99))
def test_no_choice_of_classes_mixes_the_sets(unseen, count, seed):
    sets = filled(prepare(numbered(count), unseen=sorted(unseen), seed=seed))
    assert sorted(number for items in sets.values() for number in numbers(items)) == list(range(count))
    for name, items in sets.items():
        named = [items.classes[label] for label in items.labels]
        assert named == [NAMES[number % 4] for number in numbers(items)]
        assert all((label in unseen) == (name == "unseen") for label in named)


def test_the_seed_decides(unseen):
    one, again, other = (prepare(numbered(), unseen=unseen, seed=seed) for seed in (1, 1, 2))
    assert numbers(one.train) == numbers(again.train)
    assert numbers(one.train) != numbers(other.train)


def test_sets_follow_the_split(unseen):
    sets = prepare(numbered(), unseen=unseen, seed=0)
    for name, items in filled(sets).items():
        assert numbers(items) == sets.split.parts[name].tolist()


def test_a_split_that_was_stored_gives_the_same_sets(unseen, tmp_path):
    items = numbered()
    sets = prepare(items, unseen=unseen, seed=3)
    sets.split.save(tmp_path / "split.json")
    again = divide(items, Split.load(tmp_path / "split.json", items))
    assert filled(again).keys() == filled(sets).keys()
    for name, part in filled(sets).items():
        other = getattr(again, name)
        assert torch.equal(part.inputs, other.inputs)
        assert torch.equal(part.labels, other.labels)
        assert (part.classes, part.name) == (other.classes, other.name)


def test_sets_are_named_after_the_items_and_their_part():
    sets = prepare(numbered(), unseen=["bee"], seed=0)
    assert [items.name for items in filled(sets).values()] == [f"numbers, {name}" for name in PARTS]


def test_evaluations_measure_test_items_and_unseen_classes():
    with_unseen = prepare(numbered(), unseen=["bee"], seed=0)
    assert with_unseen.tests() == {"seen": with_unseen.test, "unseen": with_unseen.unseen}
    without = prepare(numbered(), seed=0)
    assert without.tests() == {"seen": without.test}


def test_a_text_for_unseen_is_not_taken_letter_by_letter():
    items = numbered()
    halves = prepare(items, unseen="half", seed=2), prepare(items, SplitSettings(unseen="half", seed=2))
    assert halves[0].unseen.classes == halves[1].unseen.classes
    with pytest.raises(SettingError, match=r'expected a list of texts or "half" or "random-half"; got '):
        prepare(items, unseen="".join(items.classes[:2]))


def test_refuses_an_unknown_unseen_class():
    with pytest.raises(DataError, match='no class "bea"; did you mean "bee"'):
        prepare(numbered(), unseen=["bea"])


def test_refuses_to_hold_back_every_class():
    with pytest.raises(SettingError, match="40 of 40 items are unseen"):
        prepare(numbered(), unseen=NAMES)


@pytest.mark.parametrize("missing", ["train", "validation", "test"])
def test_refuses_a_split_into_other_parts(missing):
    items = numbered()
    parts = dict(prepare(items, seed=0).split.parts)
    parts["spare"] = parts.pop(missing)
    with pytest.raises(DataError, match=f'the split has no part "{missing}"; .*spare'):
        divide(items, Split(parts=parts, fingerprint=items.fingerprint()))


def test_settings_and_keywords_give_the_same_sets():
    items = numbered()
    one, other = (
        prepare(items, SplitSettings(unseen=("bee",), seed=3)),
        prepare(items, unseen=["bee"], seed=3),
    )
    assert numbers(one.train) == numbers(other.train)
    for keywords in ({"unseen": ["bee"]}, {"seed": 1}, {"fractions": {"train": 1.0}}):
        with pytest.raises(SettingError, match="in the settings of the split, or give no settings"):
            prepare(items, SplitSettings(), **keywords)


def test_validation_may_have_classes_of_its_own(tmp_path):
    items = numbered(80)
    sets = prepare(items, SplitSettings(unseen=("dog",), validation_classes=1))
    assert len(sets.validation.classes) == 1
    assert sets.train.classes == sets.test.classes
    assert set(sets.train.classes) | set(sets.validation.classes) | {"dog"} == set(NAMES)
    assert sets.validation.name == "numbers, validation"
    for part in filled(sets).values():
        assert [part.classes[label] for label in part.labels] == [NAMES[n % 4] for n in numbers(part)]
    sets.split.save(tmp_path / "split.json")
    again = divide(items, Split.load(tmp_path / "split.json", items))
    assert numbers(again.validation) == numbers(sets.validation)
    assert again.validation.classes == sets.validation.classes


def test_only_unseen_classes_may_be_tested():
    """The usual protocol of zero-shot retrieval: all items of the seen classes are trained on."""
    sets = prepare(numbered(), SplitSettings(unseen="half", fractions={"train": 0.8, "validation": 0.2}))
    assert len(sets.test) == 0
    assert sets.tests() == {"unseen": sets.unseen}
    assert len(sets.train) + len(sets.validation) == len(sets.unseen) == 20


def test_groups_stay_together_by_default_and_split_ones_are_reported():
    """Ten near-copies in each of 20 groups, five groups of each class."""
    groups = torch.arange(200) // 10
    items = replace(numbered(200), labels=groups % 4, groups=groups)
    sets = prepare(items, seed=1)
    assert sets.torn() == ""
    homes = [set(part.groups.tolist()) for part in (sets.train, sets.validation, sets.test)]
    assert sum(map(len, homes)) == len(set.union(*homes)) == 20
    assert all(len(part.only(["ant"])) for part in (sets.train, sets.validation, sets.test))
    torn = prepare(items, SplitSettings(seed=1)).torn()
    assert torn.startswith("20 of 20 groups have items in more than one part")
    assert torn.endswith("--split group keeps groups together")
    apart = prepare(items, unseen=["dog"], seed=1)
    assert set(apart.unseen.groups.tolist()) == {3, 7, 11, 15, 19}
    assert apart.torn() == prepare(numbered()).torn() == ""

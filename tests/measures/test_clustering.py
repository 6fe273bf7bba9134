"""Measures of groups against scikit-learn and loops anyone can check by eye."""

import doctest
import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    normalized_mutual_info_score,
)

from samekind.measures import (
    adjusted_mutual_information,
    adjusted_rand_index,
    clustering,
    normalised_mutual_information,
    pairwise_f1,
    purity,
)

EVERY = [
    normalised_mutual_information,
    adjusted_mutual_information,
    adjusted_rand_index,
    pairwise_f1,
    purity,
]

grouped = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=30)


def by_hand(assigned, truth):
    """The definition in probabilities, one cell of the contingency table at a time."""
    pairs = list(zip(assigned.tolist(), truth.tolist(), strict=True))

    def share(matches):
        return sum(map(matches, pairs)) / len(pairs)

    information = group_entropy = class_entropy = 0.0
    for group in {group for group, _ in pairs}:
        in_group = share(lambda pair, group=group: pair[0] == group)
        group_entropy -= in_group * math.log(in_group)
        for class_ in {class_ for _, class_ in pairs}:
            in_class = share(lambda pair, class_=class_: pair[1] == class_)
            in_both = share(lambda pair, both=(group, class_): pair == both)
            if in_both:
                information += in_both * math.log(in_both / (in_group * in_class))
    for class_ in {class_ for _, class_ in pairs}:
        in_class = share(lambda pair, class_=class_: pair[1] == class_)
        class_entropy -= in_class * math.log(in_class)
    if group_entropy == class_entropy == 0:
        return 1.0
    return 2 * information / (group_entropy + class_entropy)


@settings(max_examples=60)
@given(grouped)
def test_agrees_with_the_definition_and_with_scikit_learn(pairs):
    assigned, truth = torch.tensor(pairs).T
    value = normalised_mutual_information(assigned, truth)
    assert value == pytest.approx(by_hand(assigned, truth), abs=1e-9)
    reference = normalized_mutual_info_score(truth.numpy(), assigned.numpy())
    assert value == pytest.approx(reference, abs=1e-9)


@settings(max_examples=30)
@given(grouped)
def test_is_symmetric_bounded_and_blind_to_names(pairs):
    assigned, truth = torch.tensor(pairs).T
    value = normalised_mutual_information(assigned, truth)
    assert 0 <= value <= 1
    assert normalised_mutual_information(truth, assigned) == pytest.approx(value, abs=1e-12)
    renamed = 1000 - 7 * assigned
    assert normalised_mutual_information(renamed, truth) == pytest.approx(value, abs=1e-12)
    assert normalised_mutual_information(renamed, assigned) == pytest.approx(1)


@settings(max_examples=60)
@given(grouped)
def test_the_adjusted_ones_are_scikit_learn_s(pairs):
    assigned, truth = torch.tensor(pairs).T
    reference = adjusted_mutual_info_score(truth.numpy(), assigned.numpy())
    assert adjusted_mutual_information(assigned, truth) == pytest.approx(reference, abs=1e-9)
    reference = adjusted_rand_score(truth.numpy(), assigned.numpy())
    assert adjusted_rand_index(assigned, truth) == pytest.approx(reference, abs=1e-12)


def test_many_sizes_of_groups_and_classes_are_scikit_learn_s_too():
    generator = torch.Generator().manual_seed(0)
    truth = (torch.rand(2000, generator=generator).square() * 60).long()
    assigned = torch.where(
        torch.rand(2000, generator=generator) < 0.5, truth, torch.randint(70, (2000,), generator=generator)
    )
    reference = adjusted_mutual_info_score(truth.numpy(), assigned.numpy())
    assert adjusted_mutual_information(assigned, truth) == pytest.approx(reference, abs=1e-9)


@settings(max_examples=40)
@given(grouped)
def test_pairs_and_purity_agree_with_counting(pairs):
    assigned, truth = torch.tensor(pairs).T
    both = grouped_ = classed = 0
    for (group, class_), (other_group, other_class) in itertools.combinations(pairs, 2):
        both += group == other_group and class_ == other_class
        grouped_ += group == other_group
        classed += class_ == other_class
    if both:
        precision, recall = both / grouped_, both / classed
        assert pairwise_f1(assigned, truth) == pytest.approx(2 * precision * recall / (precision + recall))
    else:
        assert pairwise_f1(assigned, truth) == (0 if grouped_ or classed else 1)
    right = 0
    for group in {group for group, _ in pairs}:
        members = [class_ for other, class_ in pairs if other == group]
        right += max(members.count(class_) for class_ in members)
    assert purity(assigned, truth) == right / len(pairs)


@pytest.mark.parametrize("measure", EVERY)
def test_the_classes_themselves_are_perfect_whatever_their_names_and_sizes(measure):
    for truth in ([0, 0, 1, 1, 1, 2], [0, 1, 2, 3], [4, 4, 4], [7]):
        labels = torch.tensor(truth)
        assert measure(100 - 7 * labels, labels) == 1


def test_random_groups_are_worth_nothing_once_chance_is_taken_off():
    generator = torch.Generator().manual_seed(0)
    truth = torch.randint(50, (1000,), generator=generator)
    drawn = torch.randint(50, (1000,), generator=generator)
    assert normalised_mutual_information(drawn, truth) > 0.25
    assert abs(adjusted_mutual_information(drawn, truth)) < 0.02
    assert abs(adjusted_rand_index(drawn, truth)) < 0.01


@pytest.mark.parametrize("measure", [adjusted_mutual_information, adjusted_rand_index])
def test_single_items_and_one_group_say_nothing_about_classes(measure):
    truth, single = torch.tensor([0, 0, 1, 1]), torch.arange(4)
    assert measure(single, truth) == pytest.approx(0, abs=1e-12)
    assert measure(torch.zeros(4, dtype=torch.long), truth) == 0


def test_one_group_and_one_class_agree():
    assert normalised_mutual_information(torch.tensor([3, 3, 3]), torch.tensor([8, 8, 8])) == 1
    assert normalised_mutual_information(torch.tensor([3]), torch.tensor([8])) == 1


def test_only_one_of_the_two_undivided_says_nothing():
    undivided, divided = torch.tensor([0, 0, 0, 0]), torch.tensor([0, 0, 1, 2])
    assert normalised_mutual_information(undivided, divided) == 0
    assert normalised_mutual_information(divided, undivided) == 0


def test_rounding_does_not_lead_beyond_1():
    labels = torch.tensor([0, 1, 0])  # unclamped: 1.0000000000000002
    assert normalised_mutual_information(labels, labels) == 1


def test_many_groups_do_not_need_the_whole_table():
    """50,000 groups of two: the whole table would take 20 gigabytes."""
    truth = torch.arange(100_000) // 2
    for measure in EVERY:
        assert measure(truth.flip(0), truth) == pytest.approx(1)
    assert adjusted_mutual_information(truth, truth.roll(1)) < 0.01


def test_refuses_unequal_lengths():
    with pytest.raises(ValueError, match="expected assigned and truth of one shape"):
        normalised_mutual_information(torch.tensor([0, 1]), torch.tensor([0]))


def test_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(clustering)
    assert outcome.attempted > 0
    assert outcome.failed == 0

"""Robustness: shares that remain right, and what weaker attacks found is kept."""

import doctest

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from samekind.measures import robustness
from samekind.measures.intervals import proportion_interval
from samekind.measures.robustness import (
    accuracy_within,
    adversarial_accuracy,
    attack_success,
    worst_scores,
    worst_so_far,
    written_epsilon,
)
from samekind.measures.verification import equal_error_rate


def test_examples():
    assert doctest.testmod(robustness).failed == 0


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=5))
def test_worst_so_far_by_hand_and_never_rising(rows):
    worst = worst_so_far(torch.tensor(rows))
    by_hand = [
        [all(row[item] for row in rows[: place + 1]) for item in range(4)] for place in range(len(rows))
    ]
    assert worst.tolist() == by_hand
    shares = [adversarial_accuracy(row).mean for row in worst]
    assert shares == sorted(shares, reverse=True)


def test_worst_scores_never_lower_the_error():
    generator = torch.Generator().manual_seed(0)
    scores, same = torch.randn(4, 60, generator=generator), torch.arange(60) % 2 == 0
    worst = worst_scores(scores, same)
    assert torch.equal(worst[3][same], scores[:, same].amin(0))
    assert torch.equal(worst[3][~same], scores[:, ~same].amax(0))
    rates = [equal_error_rate(row, same).rate for row in worst]
    assert rates == sorted(rates)


def test_an_interval_is_that_of_independent_items():
    assert adversarial_accuracy(torch.arange(50) < 20) == proportion_interval(20, 50)


def test_the_same_from_least_perturbations():
    distances = torch.tensor([0.0, 0.1, 0.2, 0.2, torch.inf])
    shares = [at.mean for at in accuracy_within(distances, epsilons=(0.0, 0.1, 0.15, 0.2, 9.0))]
    assert shares == pytest.approx([0.8, 0.6, 0.6, 0.2, 0.2])


def test_success_counts_only_what_was_right():
    before, after = torch.tensor([True, True, True, False]), torch.tensor([False, False, True, False])
    assert attack_success(before, after).mean == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("epsilon", "text"),
    [(8 / 255, "8/255"), (16 / 255, "16/255"), (0.2, "0.2"), (0.3, "0.3"), (1.0, "1"), (2.5, "2.5")],
)
def test_epsilons_as_they_are_usually_written(epsilon, text):
    assert written_epsilon(epsilon) == text


@pytest.mark.parametrize(
    "measure",
    [
        lambda: adversarial_accuracy(torch.tensor([1.0])),
        lambda: adversarial_accuracy(torch.tensor([], dtype=torch.bool)),
        lambda: worst_so_far(torch.tensor([True])),
        lambda: worst_scores(torch.zeros(2, 3), torch.tensor([True])),
        lambda: accuracy_within(torch.tensor([-1.0]), epsilons=(1.0,)),
        lambda: attack_success(torch.tensor([False]), torch.tensor([False])),
        lambda: attack_success(torch.tensor([True]), torch.tensor([False, True])),
    ],
)
def test_what_cannot_be_measured_is_refused(measure):
    with pytest.raises(ValueError, match="expected"):
        measure()

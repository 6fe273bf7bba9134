"""Votes of neighbours against loops anyone can check by eye, and against scikit-learn."""

import doctest
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

from samekind.measures import majority_accuracy, majority_vote, nearest_neighbours, neighbour_accuracy


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=1, max_size=8))
def test_agree_with_counting(lists):
    neighbours, labels = torch.tensor(lists), torch.arange(len(lists)) % 4
    votes, enough, right = [], 0, 0
    for ranked, label in zip(lists, labels.tolist(), strict=True):
        counts = Counter(ranked)
        votes.append(next(value for value in ranked if counts[value] == max(counts.values())))
        enough += counts[label] >= 3
        right += votes[-1] == label
    assert majority_vote(neighbours).tolist() == votes
    assert neighbour_accuracy(neighbours, labels) == enough / len(lists)
    assert majority_accuracy(neighbours, labels) == right / len(lists)


def test_the_vote_is_scikit_learn_s_where_nothing_ties():
    """Three neighbours of two classes never tie."""
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(40, 3, generator=generator, dtype=torch.double)
    labels = (z[:, 0] + torch.randn(40, generator=generator) > 0).long()
    queries = torch.randn(20, 3, generator=generator, dtype=torch.double)
    order = torch.cdist(queries, z).argsort(1)[:, :3]
    reference = (
        KNeighborsClassifier(3, algorithm="brute").fit(z.numpy(), labels.numpy()).predict(queries.numpy())
    )
    assert majority_vote(labels[order]).tolist() == reference.tolist()


def test_the_two_forms_differ_where_the_class_leads_without_a_majority():
    neighbours, labels = torch.tensor([[0, 0, 1, 2, 3]]), torch.tensor([0])
    assert neighbour_accuracy(neighbours, labels) == 0
    assert neighbour_accuracy(neighbours, labels, at_least=2) == 1
    assert majority_accuracy(neighbours, labels) == 1


def test_only_the_k_nearest_vote():
    neighbours, labels = torch.tensor([[1, 0, 0, 0, 0]]), torch.tensor([1])
    assert majority_accuracy(neighbours, labels, k=1) == 1
    assert majority_accuracy(neighbours, labels, k=2) == 1  # a tie goes to the nearest
    assert majority_accuracy(neighbours, labels, k=3) == 0


def test_refuses_empty_neighbours():
    neighbours, labels = torch.zeros(2, 4, dtype=torch.long), torch.zeros(2, dtype=torch.long)
    with pytest.raises(ValueError, match=r"expected k from 1 to 4, .* got 5"):
        neighbour_accuracy(neighbours, labels)
    with pytest.raises(ValueError, match="expected at_least from 1 to 4, got 5"):
        neighbour_accuracy(neighbours, labels, k=4, at_least=5)
    with pytest.raises(ValueError, match=r"at least one of each, got \(2, 0\)"):
        majority_vote(neighbours[:, :0])


def test_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(nearest_neighbours)
    assert outcome.attempted > 0
    assert outcome.failed == 0

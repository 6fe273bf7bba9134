"""Recall at k against a loop anyone can check by eye."""

import doctest

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import top_k_accuracy_score

from samekind.measures import recall_at, retrieval


def by_hand(neighbours, labels, k):
    """The definition, one query at a time."""
    hits = 0
    for ranked, label in zip(neighbours.tolist(), labels.tolist(), strict=True):
        hits += label in ranked[:k]
    return hits / len(labels)


@settings(max_examples=30)
@given(st.integers(1, 12), st.integers(1, 9), st.integers(0, 100))
def test_agrees_with_the_definition_and_never_falls(queries, ranks, seed):
    generator = torch.Generator().manual_seed(seed)
    neighbours = torch.randint(5, (queries, ranks), generator=generator)
    labels = torch.randint(5, (queries,), generator=generator)
    recall = recall_at(neighbours, labels, ks=range(1, ranks + 1))
    assert recall == {k: by_hand(neighbours, labels, k) for k in range(1, ranks + 1)}
    assert sorted(recall.values()) == list(recall.values())


def test_with_one_item_per_class_it_is_the_top_k_accuracy_of_scikit_learn():
    generator = torch.Generator().manual_seed(0)
    scores = torch.rand(30, 6, generator=generator)
    labels = torch.arange(30) % 6
    recall = recall_at(scores.argsort(1, descending=True), labels, ks=(1, 2, 4))
    for k, value in recall.items():
        assert value == pytest.approx(top_k_accuracy_score(labels.numpy(), scores.numpy(), k=k))


def test_a_hit_at_the_last_rank_counts_from_there_on():
    neighbours = torch.tensor([[1, 1, 1, 0, 1, 1, 1, 0]])
    assert recall_at(neighbours, torch.tensor([0])) == {1: 0.0, 2: 0.0, 4: 1.0, 8: 1.0}


def test_every_query_counts_once_however_many_neighbours_are_right():
    neighbours = torch.tensor([[0, 0], [0, 0]])
    assert recall_at(neighbours, torch.tensor([0, 1]), ks=(2,)) == {2: 0.5}


@pytest.mark.parametrize("k", [0, -1, 3])
def test_a_k_that_is_not_there_is_refused(k):
    with pytest.raises(ValueError, match=f"expected k from 1 to 2, .* got {k}"):
        recall_at(torch.zeros(4, 2), torch.zeros(4), ks=(1, k))


@pytest.mark.parametrize(("neighbours", "labels"), [((4,), (4,)), ((4, 2), (3,)), ((4, 2), (4, 1))])
def test_shapes_that_do_not_belong_together_are_refused(neighbours, labels):
    with pytest.raises(ValueError, match=r"expected neighbours \(queries, ranks\) and labels"):
        recall_at(torch.zeros(neighbours), torch.zeros(labels), ks=(1,))


def test_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(retrieval)
    assert outcome.attempted > 0
    assert outcome.failed == 0

"""Which neighbours are hits and how many there are to be found, against loops anyone can check by eye."""

import doctest

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.measures import ranking
from samekind.measures.ranking import check_ks, ranked, relevant_counts

labelled = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=12)


@settings(max_examples=30)
@given(labelled)
def test_without_a_gallery_all_others_of_the_class_are_relevant(items):
    labels = torch.tensor([label for label, _ in items])
    expected = [
        sum(label == other and i != j for j, other in enumerate(labels.tolist()))
        for i, label in enumerate(labels.tolist())
    ]
    assert relevant_counts(labels).tolist() == expected


@settings(max_examples=30)
@given(labelled, labelled)
def test_with_a_gallery_those_with_the_query_s_mark_are_not_counted(queries, gallery):
    labels, marks = torch.tensor(queries).T
    gallery_labels, gallery_marks = torch.tensor(gallery).T
    plain = relevant_counts(labels, gallery=gallery_labels)
    apart = relevant_counts(labels, gallery=gallery_labels, apart=(marks, gallery_marks))
    for query, (label, mark) in enumerate(queries):
        assert plain[query] == sum(other == label for other, _ in gallery)
        assert apart[query] == sum(other == label and item_mark != mark for other, item_mark in gallery)


def test_ignored_neighbours_are_removed():
    neighbours, ignored = torch.tensor([[5, 7, 5, 7]]), torch.tensor([[True, False, False, True]])
    result = ranked(neighbours, torch.tensor([5]), None, ignored)
    assert result.hit.tolist() == [[False, True, False, False]]
    assert result.length.tolist() == [2]
    check_ks(result, [1, 2])
    with pytest.raises(ValueError, match="expected k from 1 to 2, the neighbours each query has, got 3"):
        check_ks(result, [3])


def test_nothing_ignored_changes_nothing():
    neighbours = torch.tensor([[0, 1, 0], [1, 1, 0]])
    labels, nobody = torch.tensor([0, 0]), torch.zeros(2, 3, dtype=torch.bool)
    plain, other = ranked(neighbours, labels, None, None), ranked(neighbours, labels, None, nobody)
    assert torch.equal(plain.hit, other.hit)
    assert torch.equal(plain.length, other.length)


def test_a_query_in_its_own_list_is_noticed():
    with pytest.raises(ValueError, match=r"at most 1 .* of query 0, .* got 2; is the query in its own list"):
        ranked(torch.tensor([[0, 0, 1]]), torch.tensor([0]), torch.tensor([1]), None)


@pytest.mark.parametrize("relevant", [torch.tensor([1.0]), torch.tensor([1, 1]), torch.tensor(1)])
def test_refuses_invalid_counts(relevant):
    with pytest.raises(ValueError, match=r"expected relevant as whole numbers of shape \(1,\)"):
        ranked(torch.tensor([[0, 1]]), torch.tensor([0]), relevant, None)


def test_refuses_marks_of_other_shapes():
    labels, gallery = torch.tensor([0, 1]), torch.tensor([0, 1, 1])
    with pytest.raises(ValueError, match=r"of shapes \(2,\) and \(3,\), got \(3,\) and \(2,\)"):
        relevant_counts(labels, gallery=gallery, apart=(gallery, labels))
    with pytest.raises(ValueError, match="expected the labels of the gallery along with apart"):
        relevant_counts(labels, apart=(labels, labels))
    with pytest.raises(ValueError, match="expected ignored as booleans"):
        ranked(torch.tensor([[0, 1]]), torch.tensor([0]), None, torch.tensor([[0, 1]]))


def test_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(ranking)
    assert outcome.attempted > 0
    assert outcome.failed == 0

"""Classification measures against scikit-learn and a loop anyone can check by eye."""

import doctest

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, confusion_matrix

from samekind.measures import accuracy, classification, confusion

CLASSES = 4
labelled = st.lists(
    st.tuples(st.integers(0, CLASSES - 1), st.integers(0, CLASSES - 1)), min_size=1, max_size=30
)


def confusion_by_hand(predicted, truth):
    """The definition, one item at a time."""
    counts = [[0] * CLASSES for _ in range(CLASSES)]
    for guess, right in zip(predicted.tolist(), truth.tolist(), strict=True):
        counts[right][guess] += 1
    return counts


@settings(max_examples=40)
@given(labelled)
def test_agree_with_the_definition_and_with_scikit_learn(pairs):
    predicted, truth = torch.tensor(pairs).T
    hits = sum(guess == right for guess, right in pairs)
    assert accuracy(predicted, truth) == hits / len(pairs)
    assert accuracy(predicted, truth) == pytest.approx(accuracy_score(truth.numpy(), predicted.numpy()))

    table = confusion(predicted, truth, classes=CLASSES)
    assert table.tolist() == confusion_by_hand(predicted, truth)
    theirs = confusion_matrix(truth.numpy(), predicted.numpy(), labels=range(CLASSES))
    assert table.tolist() == theirs.tolist()
    assert table.diagonal().sum().item() == hits


def test_rows_are_the_truth():
    table = confusion(torch.tensor([1, 1]), torch.tensor([0, 0]), classes=2)
    assert table.tolist() == [[0, 2], [0, 0]]


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int32])
def test_small_number_types_do_not_overflow(dtype):
    """The cell of row 1 is beyond 255, the last number of uint8."""
    truth = torch.tensor([0, 1, 1]).to(dtype)
    table = confusion(truth, truth, classes=300)
    assert table.dtype == torch.int64
    assert (table[0, 0].item(), table[1, 1].item(), table.sum().item()) == (1, 2, 3)


@pytest.mark.parametrize(
    ("predicted", "truth", "message"),
    [
        ([0, 3], [0, 1], "expected predicted from 0 to 2, got 0 to 3"),
        ([-1, 2], [0, 1], "expected predicted from 0 to 2, got -1 to 2"),
        ([0, 1], [0, 3], "expected truth from 0 to 2, got 0 to 3"),
    ],
)
def test_a_class_outside_the_table_is_refused(predicted, truth, message):
    with pytest.raises(ValueError, match=message):
        confusion(torch.tensor(predicted), torch.tensor(truth), classes=3)


@pytest.mark.parametrize("measure", [accuracy, lambda *labels: confusion(*labels, classes=2)])
def test_scores_in_place_of_classes_are_refused(measure):
    with pytest.raises(ValueError, match=r"of one shape .* got \(3, 2\) and \(3,\); of scores, take .argmax"):
        measure(torch.rand(3, 2), torch.tensor([0, 1, 1]))
    with pytest.raises(ValueError, match="expected whole numbers in predicted"):
        measure(torch.rand(3), torch.tensor([0, 1, 1]))


def test_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(classification)
    assert outcome.attempted > 0
    assert outcome.failed == 0

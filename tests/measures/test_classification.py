"""Classification measures against scikit-learn and a loop anyone can check by eye."""

import doctest

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    f1_score,
    recall_score,
    top_k_accuracy_score,
)

from samekind.measures import (
    accuracy,
    adjust_prior,
    classification,
    confusion,
    f1_by_class,
    macro_f1,
    recall_by_class,
    recall_with_confounders,
    top_k_accuracy,
)

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
    reference = confusion_matrix(truth.numpy(), predicted.numpy(), labels=range(CLASSES))
    assert table.tolist() == reference.tolist()
    assert table.diagonal().sum().item() == hits


@settings(max_examples=40)
@given(labelled)
def test_class_by_class_they_are_scikit_learn_s(pairs):
    predicted, truth = torch.tensor(pairs).T
    every = {"labels": range(CLASSES), "average": None, "zero_division": 0}
    reference = recall_score(truth.numpy(), predicted.numpy(), **every)
    assert recall_by_class(predicted, truth, classes=CLASSES).tolist() == pytest.approx(reference.tolist())
    reference = f1_score(truth.numpy(), predicted.numpy(), **every)
    assert f1_by_class(predicted, truth, classes=CLASSES).tolist() == pytest.approx(reference.tolist())
    reference = f1_score(truth.numpy(), predicted.numpy(), average="macro", zero_division=0)
    assert macro_f1(predicted, truth) == pytest.approx(reference)
    # Nobody is a stranger here, so the hardest recall is the plain one.
    plain = recall_by_class(predicted, truth, classes=CLASSES)
    assert torch.equal(recall_with_confounders(predicted, truth, classes=CLASSES), plain)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 5)), min_size=1, max_size=30))
def test_confounders_taken_for_a_class_count_as_items_it_missed(pairs):
    """Classes 0 to 2 are known, 3 to 5 are strangers, and -1 says "none of these"."""
    predicted, truth = torch.tensor(pairs).T
    result = recall_with_confounders(predicted, truth, classes=3).tolist()
    for known in range(3):
        right = sum(guess == known == true for guess, true in pairs)
        items = sum(true == known for _, true in pairs)
        fooled = sum(guess == known and true >= 3 for guess, true in pairs)
        assert result[known] == (right / (items + fooled) if items + fooled else 0)


def test_a_prediction_of_none_of_these_is_a_miss():
    predicted, truth = torch.tensor([-1, 0, 5]), torch.tensor([0, 0, 1])
    assert recall_by_class(predicted, truth, classes=2).tolist() == [0.5, 0]
    assert f1_by_class(predicted, truth, classes=2).tolist() == [pytest.approx(2 / 3), 0]
    with pytest.raises(ValueError, match="expected at least one class, got 0"):
        f1_by_class(predicted, truth, classes=0)


def test_top_k_is_scikit_learn_s_and_never_falls():
    generator = torch.Generator().manual_seed(0)
    scores, truth = torch.randn(50, 6, generator=generator), torch.arange(50) % 6
    result = top_k_accuracy(scores, truth, ks=range(1, 7))
    for k, value in result.items():
        if k < 6:  # scikit-learn warns that the last one says nothing
            assert value == pytest.approx(top_k_accuracy_score(truth.numpy(), scores.numpy(), k=k))
    assert sorted(result.values()) == list(result.values())
    assert result[1] == accuracy(scores.argmax(1), truth)
    assert result[6] == 1


def test_equal_scores_go_to_the_lower_class():
    constant, truth = torch.zeros(4, 4), torch.arange(4)
    assert top_k_accuracy(constant, truth, ks=(1, 2, 4)) == {1: 0.25, 2: 0.5, 4: 1.0}
    with pytest.raises(ValueError, match="expected k from 1 to 4, the number of classes, got 5"):
        top_k_accuracy(constant, truth)
    with pytest.raises(ValueError, match="expected numbers in class_scores, got 16 that are NaN"):
        top_k_accuracy(constant / 0, truth, ks=(1,))


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_another_prior_is_bayes_rule_and_can_be_taken_back(seed):
    generator = torch.Generator().manual_seed(seed)
    before, after = torch.rand(2, 3, generator=generator, dtype=torch.double) + 0.1
    likelihood = torch.rand(5, 3, generator=generator, dtype=torch.double) + 0.01
    old, new = (likelihood * value / (likelihood * value).sum(1, keepdim=True) for value in (before, after))
    torch.testing.assert_close(adjust_prior(old, before=before, after=after), new)
    torch.testing.assert_close(adjust_prior(old, before=before, after=7 * before), old)
    torch.testing.assert_close(adjust_prior(new, before=after, after=before), old)


def test_a_class_that_no_longer_occurs_gets_nothing_and_impossible_priors_are_refused():
    half = torch.tensor([[0.5, 0.5]])
    gone = adjust_prior(half, before=torch.tensor([1, 1]), after=torch.tensor([0, 2]))
    assert gone.tolist() == [[0, 1]]
    with pytest.raises(ValueError, match="above 0 in before, got 0 for class 1"):
        adjust_prior(half, before=torch.tensor([1, 0]), after=torch.tensor([1, 1]))
    with pytest.raises(ValueError, match="can still occur for every item, got none for item 0"):
        adjust_prior(torch.tensor([[1.0, 0.0]]), before=torch.tensor([1, 1]), after=torch.tensor([0, 1]))
    with pytest.raises(ValueError, match=r"expected frequencies \(2,\) of 0 or more in after, got \[-1, 1\]"):
        adjust_prior(half, before=torch.tensor([1, 1]), after=torch.tensor([-1, 1]))


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
def test_refuses_a_class_outside_the_table(predicted, truth, message):
    with pytest.raises(ValueError, match=message):
        confusion(torch.tensor(predicted), torch.tensor(truth), classes=3)


@pytest.mark.parametrize("measure", [accuracy, lambda *labels: confusion(*labels, classes=2)])
def test_refuses_scores_instead_of_classes(measure):
    with pytest.raises(ValueError, match=r"of one shape .* got \(3, 2\) and \(3,\); of scores, take .argmax"):
        measure(torch.rand(3, 2), torch.tensor([0, 1, 1]))
    with pytest.raises(ValueError, match="expected whole numbers in predicted"):
        measure(torch.rand(3), torch.tensor([0, 1, 1]))


def test_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(classification)
    assert outcome.attempted > 0
    assert outcome.failed == 0

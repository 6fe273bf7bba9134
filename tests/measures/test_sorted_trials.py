"""Sorted trials against sorting and counting by hand."""

import pytest
import torch
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from samekind.measures import sorted_trials
from samekind.measures.sorted_trials import check_both_answers, checked, doubled_wins, sort_trials

SOME = st.lists(st.integers(-5, 5), min_size=1, max_size=12)


def trials(same, different, dtype=torch.float32):
    scores = torch.tensor([*same, *different]).to(dtype)
    return scores, torch.tensor([True] * len(same) + [False] * len(different))


@examples(max_examples=30)
@given(SOME, SOME)
def test_each_kind_is_sorted_and_every_level_counted(same, different):
    result = sort_trials(*trials(same, different))
    assert result.targets.tolist() == sorted(same)
    assert result.impostors.tolist() == sorted(different)
    levels = result.levels()
    assert levels.scores.tolist() == sorted({*same, *different})
    assert levels.targets.tolist() == [same.count(score) for score in levels.scores.tolist()]
    assert levels.impostors.tolist() == [different.count(value) for value in levels.scores.tolist()]


@examples(max_examples=30)
@given(SOME, SOME, st.integers(-6, 6))
def test_a_score_at_the_threshold_is_accepted(same, different, threshold):
    targets, impostors = sort_trials(*trials(same, different)).accepted(torch.tensor([float(threshold)]))
    assert int(targets) == sum(score >= threshold for score in same)
    assert int(impostors) == sum(value >= threshold for value in different)


@pytest.mark.parametrize("chunk", [1, 3, 100])
@examples(max_examples=20)
@given(same=SOME, different=SOME)
def test_wins_count_double_and_ties_once(same, different, chunk):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_trials, "CHUNK", chunk)
        result = doubled_wins(sort_trials(*trials(same, different)))
    assert result == sum(2 * (one > other) + (one == other) for one in same for other in different)


@pytest.mark.parametrize(
    ("dtype", "sorted_as"),
    [
        (torch.bfloat16, torch.float32),
        (torch.float16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
        (torch.int64, torch.float64),
    ],
)
def test_scores_keep_their_precision(dtype, sorted_as):
    result = sort_trials(*trials([3, 1], [2], dtype))
    assert result.targets.dtype == result.impostors.dtype == sorted_as
    assert result.targets.tolist() == [1, 3]


def test_both_zeros_are_one_level():
    assert len(sort_trials(*trials([0.0], [-0.0])).levels().scores) == 1


def test_leaves_its_inputs_unchanged():
    scores, same = trials([3, 1, 2], [5, 4])
    sort_trials(scores, same)
    assert scores.tolist() == [3, 1, 2, 5, 4]


def test_checked_trials_have_no_gradient():
    scores, same = trials([1], [2])
    assert not checked(scores.requires_grad_(), same)[0].requires_grad


@pytest.mark.parametrize("same", [[True, True], [False], []])
def test_refuses_trials_of_one_kind(same):
    with pytest.raises(ValueError, match="expected trials of both kinds"):
        check_both_answers(torch.tensor(same, dtype=torch.bool))

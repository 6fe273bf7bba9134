"""Score normalisation against a loop over trials."""

import doctest
import math
import statistics

import pytest
import torch

from samekind.measures import as_norm, equal_error_rate, mean_norm, s_norm, score_normalisation


def drawn(trials=6, cohort=9):
    generator = torch.Generator().manual_seed(0)
    built = [torch.randn(trials, cohort, generator=generator) for _ in range(2)]
    return torch.randn(trials, generator=generator), *built


def by_hand(scores, first, second, top):
    """One trial at a time: how far above the closest of each side's cohort."""
    result = []
    for score, one, other in zip(scores.tolist(), first.tolist(), second.tolist(), strict=True):
        sides = []
        for cohort in (one, other):
            closest = sorted(cohort, reverse=True)[:top]
            sides.append((score - statistics.fmean(closest)) / statistics.pstdev(closest))
        result.append(sum(sides) / 2)
    return result


@pytest.mark.parametrize("top", [2, 5, 9])
def test_agrees_with_the_loop(top):
    scores, first, second = drawn()
    assert as_norm(scores, first, second, top=top).tolist() == pytest.approx(
        by_hand(scores, first, second, top), rel=1e-5
    )


@pytest.mark.parametrize("top", [2, 5, 9])
def test_undivided_it_is_the_score_less_the_means(top):
    scores, first, second = drawn()
    means = [cohort.sort(descending=True).values[:, :top].double().mean(1) for cohort in (first, second)]
    expected = scores.double() - sum(means) / 2
    torch.testing.assert_close(mean_norm(scores, first, second, top=top), expected)
    equal = torch.ones(6, 9)  # nothing is divided, so nothing has to differ
    torch.testing.assert_close(mean_norm(scores, equal, equal, top=top), scores.double() - 1)


def test_with_the_whole_cohort_it_is_the_plain_one():
    scores, first, second = drawn()
    assert s_norm(scores, first, second).tolist() == pytest.approx(
        by_hand(scores, first, second, 9), rel=1e-5
    )
    torch.testing.assert_close(s_norm(scores, first, second), as_norm(scores, first, second, top=9))


def test_neither_side_comes_first():
    scores, first, second = drawn()
    torch.testing.assert_close(s_norm(scores, first, second), s_norm(scores, second, first))
    torch.testing.assert_close(as_norm(scores, first, second, top=3), as_norm(scores, second, first, top=3))


def test_rows_say_which_item_a_trial_is_about():
    _, first, second = drawn(trials=3)
    pairs = torch.tensor([[0, 2], [0, 1], [2, 2], [1, 0]])
    scores = torch.tensor([0.1, 0.2, 0.3, 0.4])
    rows = {"first_rows": pairs[:, 0], "second_rows": pairs[:, 1]}
    written_out = first[pairs[:, 0]], second[pairs[:, 1]]
    torch.testing.assert_close(s_norm(scores, first, second, **rows), s_norm(scores, *written_out))
    torch.testing.assert_close(
        as_norm(scores, first, second, top=4, **rows), as_norm(scores, *written_out, top=4)
    )


def test_shift_and_scale_of_all_scores_cancel():
    scores, first, second = (value.double() for value in drawn())
    moved = s_norm(3 * scores - 7, 3 * first - 7, 3 * second - 7)
    torch.testing.assert_close(moved, s_norm(scores, first, second))


def test_items_that_are_close_to_everybody_no_longer_confuse():
    """Every item has its own shift on all its scores; the cohort knows it."""
    generator = torch.Generator().manual_seed(0)
    shift = 3 * torch.randn(60, generator=generator)
    pairs = torch.randint(60, (2000, 2), generator=generator)
    same = torch.arange(2000) < 400
    scores = shift[pairs].sum(1) + 2 * same + 0.5 * torch.randn(2000, generator=generator)
    cohort = shift[:, None] + torch.randn(60, 100, generator=generator)
    rows = {"first_rows": pairs[:, 0], "second_rows": pairs[:, 1]}
    raw = equal_error_rate(scores, same).rate
    # Each side takes half of both shifts away, so on average they are gone.
    normalised = s_norm(scores, 2 * cohort, 2 * cohort, **rows)
    assert equal_error_rate(normalised, same).rate < raw / 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": torch.zeros(0)}, r"expected scores \(trials,\), at least one"),
        ({"scores": torch.tensor([math.nan, 0.0])}, "expected finite scores, got 1 of 2"),
        ({"first_cohort": torch.eye(3)}, r"expected a first_cohort \(trials, cohort\), got \(3, 3\) for 2"),
        ({"second_cohort": torch.zeros(2)}, r"expected a second_cohort \(trials, cohort\)"),
        ({"second_cohort": torch.zeros(2, 1)}, "expected at least two cohort scores an item, got 1"),
        ({"second_cohort": torch.zeros(2, 3)}, "all equal in row 0 of second_cohort"),
        ({"first_cohort": torch.full((2, 3), math.inf)}, "expected finite cohort scores"),
        ({"first_rows": torch.tensor([0, 2])}, "expected first_rows from 0 to 1, got 0 to 2"),
        ({"second_rows": torch.tensor([0.0, 1.0])}, "expected second_rows, whole numbers"),
        ({"second_rows": torch.tensor([0])}, "expected second_rows, whole numbers"),
    ],
)
def test_refuses_invalid_cohorts(change, message):
    arguments = {
        "scores": torch.tensor([1.0, 2.0]),
        "first_cohort": torch.eye(2),
        "second_cohort": torch.eye(2),
    }
    with pytest.raises(ValueError, match=message):
        s_norm(**{**arguments, **change})


@pytest.mark.parametrize("top", [1, 10])
def test_refuses_a_top_beyond_the_cohort(top):
    with pytest.raises(ValueError, match=f"expected a top from 2 to 9, the size of the cohort, got {top}"):
        as_norm(*drawn(), top=top)


def test_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(score_normalisation)
    assert outcome.attempted > 0
    assert outcome.failed == 0

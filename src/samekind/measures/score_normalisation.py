"""Score normalisation: a score relative to those of both items with a cohort of other classes.

An item that is close to everything has high scores in all its trials. Scores relative to a cohort of other
items correct this. ``scores`` is (trials,). ``first_cohort`` and ``second_cohort`` are (items, cohort), the
scores of the items of each side with the cohort. Row i belongs to trial i, unless ``first_rows`` and
``second_rows``, (trials,) whole numbers, say which row each trial uses: an item in many trials then needs one
row only.

Kenny, "Bayesian Speaker Verification with Heavy-Tailed Priors", Odyssey 2010; Matějka et al., "Analysis of
Score Normalization in Multilingual Speaker Recognition", Interspeech 2017.
"""

import torch
from torch import Tensor

from samekind.measures.checks import check_finite


def s_norm(
    scores: Tensor,
    first_cohort: Tensor,
    second_cohort: Tensor,
    *,
    first_rows: Tensor | None = None,
    second_rows: Tensor | None = None,
) -> Tensor:
    """Symmetric normalisation: the mean, over both sides, of (score - mean) / deviation of the cohort.

    In float64, (trials,). 0 is the mean of the cohort scores, 1 one (population) deviation above.

    >>> import torch
    >>> s_norm(torch.tensor([5.0]), torch.tensor([[0.0, 2.0]]), torch.tensor([[1.0, 5.0]]))
    tensor([2.5000], dtype=torch.float64)
    """
    return _over_both(scores, (first_cohort, second_cohort), (first_rows, second_rows), None)


def as_norm(
    scores: Tensor,
    first_cohort: Tensor,
    second_cohort: Tensor,
    *,
    top: int,
    first_rows: Tensor | None = None,
    second_rows: Tensor | None = None,
) -> Tensor:
    """Adaptive symmetric normalisation: `s_norm` with the ``top`` closest of each side's cohort alone.

    Each side has its own: the cohort items it scores highest with. With ``top`` the whole cohort it is
    `s_norm`; usual are a few hundred of some thousands.

    >>> import torch
    >>> cohort = torch.tensor([[0.0, 2.0, -9.0]])
    >>> as_norm(torch.tensor([5.0]), cohort, cohort, top=2)
    tensor([4.], dtype=torch.float64)
    """
    return _over_both(scores, (first_cohort, second_cohort), (first_rows, second_rows), top)


def mean_norm(
    scores: Tensor,
    first_cohort: Tensor,
    second_cohort: Tensor,
    *,
    top: int,
    first_rows: Tensor | None = None,
    second_rows: Tensor | None = None,
) -> Tensor:
    """Like `as_norm`, but not divided by a deviation: the score less the mean, over both sides, of those with
    the ``top`` closest of the cohort.

    Conneau et al., "Word Translation Without Parallel Data", ICLR 2018, take 10.

    >>> import torch
    >>> cohort = torch.tensor([[0.0, 2.0, -9.0]])
    >>> mean_norm(torch.tensor([5.0]), cohort, cohort, top=2)
    tensor([4.], dtype=torch.float64)
    """
    return _over_both(scores, (first_cohort, second_cohort), (first_rows, second_rows), top, divided=False)


def _over_both(
    scores: Tensor,
    cohorts: tuple[Tensor, Tensor],
    rows: tuple[Tensor | None, Tensor | None],
    top: int | None,
    *,
    divided: bool = True,
) -> Tensor:
    """The mean of the scores standardised by the cohort of each side."""
    _check_scores(scores)
    first = _standardised(scores, cohorts[0], rows[0], top, "first", divided=divided)
    return (first + _standardised(scores, cohorts[1], rows[1], top, "second", divided=divided)) / 2


def _standardised(
    scores: Tensor, cohort: Tensor, rows: Tensor | None, top: int | None, side: str, *, divided: bool = True
) -> Tensor:
    """The scores minus the mean of one side's cohort; if ``divided``, in units of its deviation."""
    if cohort.ndim != 2 or (rows is None and len(cohort) != len(scores)):
        expected = "(trials, cohort)" if rows is None else "(items, cohort)"
        shapes = f"{tuple(cohort.shape)} for {len(scores)} trials"
        raise ValueError(f"expected a {side}_cohort {expected}, got {shapes}")
    if cohort.shape[1] < 2:
        raise ValueError(f"expected at least two cohort scores an item, got {cohort.shape[1]}")
    if top is not None and not 2 <= top <= cohort.shape[1]:
        raise ValueError(f"expected a top from 2 to {cohort.shape[1]}, the size of the cohort, got {top}")
    if not cohort.isfinite().all():
        raise ValueError(f"expected finite cohort scores, got NaN or infinite ones in {side}_cohort")
    closest = cohort.detach() if top is None else cohort.detach().topk(top, dim=1).values
    closest = closest.double()
    mean, deviation = closest.mean(1), closest.std(1, correction=0)
    if not divided:
        deviation = torch.ones_like(deviation)
    if (deviation <= 0).any():
        row = int((deviation <= 0).nonzero()[0])
        raise ValueError(
            f"expected cohort scores that differ, got all equal in row {row} of {side}_cohort: "
            "an item that scores the same with everybody cannot be normalised"
        )
    if rows is not None:
        _check_rows(rows, scores, cohort, side)
        mean, deviation = mean[rows], deviation[rows]
    return (scores.detach().double() - mean) / deviation


def _check_scores(scores: Tensor) -> None:
    if scores.ndim != 1 or len(scores) == 0:
        raise ValueError(f"expected scores (trials,), at least one, got shape {tuple(scores.shape)}")
    check_finite(scores, "scores")


def _check_rows(rows: Tensor, scores: Tensor, cohort: Tensor, side: str) -> None:
    if rows.shape != scores.shape or rows.is_floating_point():
        raise ValueError(
            f"expected {side}_rows, whole numbers (trials,), got {rows.dtype} {tuple(rows.shape)}"
        )
    low, high = int(rows.min()), int(rows.max())
    if low < 0 or high >= len(cohort):
        raise ValueError(f"expected {side}_rows from 0 to {len(cohort) - 1}, got {low} to {high}")

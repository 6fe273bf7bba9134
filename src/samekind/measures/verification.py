"""Verification: how well a score tells pairs of one class from pairs of two.

A trial is a pair of items. ``scores`` and ``same`` are (trials,): scores are finite and higher means
closer, ``same`` is boolean. A trial is accepted when its score is at least the threshold. A false
accept is an accepted trial of two classes, a false reject a refused trial of one; each rate is a
share of its own kind. Every function needs trials of both kinds and sorts once, so millions of trials
are fine.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor


class ErrorRates(NamedTuple):
    """Both rates at every threshold, each (thresholds,) in float64, the strictest threshold first."""

    thresholds: Tensor
    false_accepts: Tensor
    false_rejects: Tensor


class EqualError(NamedTuple):
    """The equal error rate and the score it is reached at."""

    rate: float
    threshold: float


class _Counts(NamedTuple):
    """Trials accepted at every threshold, by kind, as int64: ties and areas are then exact."""

    thresholds: Tensor
    targets: Tensor
    impostors: Tensor


def _checked(scores: Tensor, same: Tensor) -> tuple[Tensor, Tensor]:
    """The trials without gradient, their scores as floats; ValueError where they are no trials."""
    if scores.ndim != 1 or scores.shape != same.shape:
        shapes = f"{tuple(scores.shape)} and {tuple(same.shape)}"
        raise ValueError(f"expected scores and same of one shape (trials,), got {shapes}")
    if same.dtype != torch.bool:
        raise ValueError(f"expected a boolean same, got {same.dtype}; compare the two labels, or use .bool()")
    targets = int(same.sum())
    if targets == 0 or targets == len(same):
        kinds = f"{targets} same and {len(same) - targets} different"
        raise ValueError(f"expected trials of both kinds, got {kinds}")
    if not scores.isfinite().all():
        broken = int((~scores.isfinite()).sum())
        raise ValueError(f"expected finite scores, got {broken} of {len(scores)} that are NaN or infinite")
    scores = scores.detach()
    return (scores if scores.is_floating_point() else scores.double()), same


def _counts(scores: Tensor, same: Tensor) -> _Counts:
    """The counts at every threshold, strictest first; checked trials are expected."""
    scores, order = scores.double().sort(descending=True)
    same = same[order]
    last_of_tie = torch.cat([scores[1:] != scores[:-1], torch.ones_like(same[:1])])
    targets, impostors = same.cumsum(0)[last_of_tie], (~same).cumsum(0)[last_of_tie]
    nothing, none = torch.full_like(scores[:1], math.inf), torch.zeros_like(targets[:1])
    return _Counts(
        torch.cat([nothing, scores[last_of_tie]]),
        torch.cat([none, targets]),
        torch.cat([none, impostors]),
    )


def _rates(counts: _Counts) -> ErrorRates:
    targets, impostors = counts.targets.double(), counts.impostors.double()
    # The last entry accepts all. Dividing by it as a tensor, not as a number, rounds correctly on every
    # device, so that 3 false accepts of 10 are the number 0.3.
    missed = targets[-1] - targets
    return ErrorRates(counts.thresholds, impostors / impostors[-1], missed / targets[-1])


def error_rates(scores: Tensor, same: Tensor) -> ErrorRates:
    """Both error rates at every threshold that makes a difference, strictest first.

    The first threshold is infinite and accepts nothing, the last is the lowest score and accepts all.
    Tied scores share one threshold.

    >>> rates = error_rates(torch.tensor([4, 2, 2, 1]), torch.tensor([True, True, False, False]))
    >>> rates.thresholds.tolist()
    [inf, 4.0, 2.0, 1.0]
    >>> rates.false_accepts.tolist(), rates.false_rejects.tolist()
    ([0.0, 0.0, 0.5, 1.0], [1.0, 0.5, 0.0, 0.0])
    """
    return _rates(_counts(*_checked(scores, same)))


def equal_error_rate(scores: Tensor, same: Tensor) -> EqualError:
    """The mean of the two error rates at the observed score where they are nearest to each other.

    0 when every pair of one class outscores every other, 1 when it is the other way round, 0.5 when
    all scores are equal. Two thresholds can be equally near, the rates crossing between them: the
    stricter is taken. The threshold is always one of the scores.

    >>> scores = torch.tensor([0.9, 0.8, 0.4, 0.7, 0.3, 0.2, 0.1], dtype=torch.double)
    >>> equal_error_rate(scores, torch.tensor([True] * 3 + [False] * 4))
    EqualError(rate=0.29166666666666663, threshold=0.7)
    """
    counts = _counts(*_checked(scores, same))
    targets, impostors = counts.targets, counts.impostors
    # The difference of the rates, times both totals: in whole numbers, equally near is exact.
    gap = impostors * targets[-1] - (targets[-1] - targets) * impostors[-1]
    # The infinite threshold is left out: its rates are 1 apart, and no threshold is further.
    nearest = int(gap[1:].abs().argmin()) + 1
    thresholds, false_accepts, false_rejects = _rates(counts)
    rate = (false_accepts[nearest] + false_rejects[nearest]) / 2
    return EqualError(float(rate), float(thresholds[nearest]))


def area_under_curve(scores: Tensor, same: Tensor) -> float:
    """The chance that a random pair of one class outscores a random pair of two; a tie counts half.

    It is the area under the receiver operating characteristic by the trapezoid rule: 1 when the kinds
    are apart, 0.5 for scores that say nothing, 0 when they are apart the wrong way round.

    >>> area_under_curve(torch.tensor([0.9, 0.6, 0.7, 0.1]), torch.tensor([True, True, False, False]))
    0.75
    """
    counts = _counts(*_checked(scores, same))
    doubled = (counts.impostors.diff() * (counts.targets[1:] + counts.targets[:-1])).sum()
    return int(doubled) / (2 * int(counts.targets[-1]) * int(counts.impostors[-1]))


def rates_at(scores: Tensor, same: Tensor, threshold: float) -> tuple[float, float]:
    """The false-accept and the false-reject rate at one threshold, in this order.

    The threshold need not be a score: infinity accepts nothing, minus infinity everything.

    >>> rates_at(torch.tensor([4, 2, 2, 1]), torch.tensor([True, True, False, False]), 2)
    (0.5, 0.0)
    """
    accepted, same = _accepted(scores, same, threshold)
    false_accepts, false_rejects = int((accepted & ~same).sum()), int((~accepted & same).sum())
    return false_accepts / int((~same).sum()), false_rejects / int(same.sum())


def accuracy_at(scores: Tensor, same: Tensor, threshold: float) -> float:
    """The share of trials decided rightly at one threshold; kinds count by how many trials they have.

    >>> accuracy_at(torch.tensor([4, 2, 2, 1]), torch.tensor([True, True, False, False]), 2)
    0.75
    """
    accepted, same = _accepted(scores, same, threshold)
    return int((accepted == same).sum()) / len(same)


def _accepted(scores: Tensor, same: Tensor, threshold: float) -> tuple[Tensor, Tensor]:
    scores, same = _checked(scores, same)
    if math.isnan(threshold):
        raise ValueError("expected a threshold to compare scores with, got NaN")
    # In the scores' own precision: float32 scores of 0.7 pass a threshold written as 0.7.
    return scores >= threshold, same


def threshold_at(scores: Tensor, same: Tensor, *, false_accepts: float) -> float:
    """The most lenient observed score whose false-accept rate is at most ``false_accepts``.

    Where even the highest score accepts too many, the next number above it in the scores' own
    precision: that accepts none of these trials, and only a higher score later. A rate of 1 gives the
    lowest score.

    >>> scores, same = torch.tensor([0.875, 0.75, 0.5, 0.25]), torch.tensor([True, False, True, False])
    >>> threshold_at(scores, same, false_accepts=0.5), threshold_at(scores, same, false_accepts=0.0)
    (0.5, 0.875)
    """
    if not 0 <= false_accepts <= 1:
        raise ValueError(f"expected a false-accept rate from 0 to 1, got {false_accepts}")
    scores, same = _checked(scores, same)
    rates = _rates(_counts(scores, same))
    # The rate starts at 0 and never falls: the allowed thresholds come first, and there is one at least.
    most_lenient = int((rates.false_accepts <= false_accepts).sum()) - 1
    if most_lenient == 0:
        highest = scores.max()
        return float(highest.nextafter(torch.full_like(highest, math.inf)))
    return float(rates.thresholds[most_lenient])

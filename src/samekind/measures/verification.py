"""Verification: how well a score tells pairs of one class from pairs of two.

A trial is a pair of items. ``scores`` and ``same`` are (trials,): scores are finite and higher means
closer, ``same`` is boolean. A trial is accepted when its score is at least the threshold. A false
accept is an accepted trial of two classes, a false reject a refused trial of one; each rate is a
share of its own kind. Every function needs trials of both kinds and sorts once at most, so many millions
of trials are fine; for more than memory holds there is `streamed`.

The Kaldi form of the equal error rate is that of the toolkit's ``compute-eer``: Povey et al., "The Kaldi
Speech Recognition Toolkit", ASRU 2011.
"""

import bisect
import math
from typing import Literal

import torch
from torch import Tensor

from samekind.measures.crossing import EqualError, crossing
from samekind.measures.sorted_trials import SortedTrials, checked, doubled_wins, sort_trials

EerMethod = Literal["nearest", "interpolated", "kaldi"]


def equal_error_rate(scores: Tensor, same: Tensor, *, form: EerMethod = "nearest") -> EqualError:
    """The error rate at which false accepts and false rejects are equally frequent.

    ``"nearest"`` is the mean of the two rates at the observed score where they are nearest to each other;
    of two equally near, the rates crossing between them, the stricter is taken. The threshold is always
    one of the scores. ``"interpolated"`` draws a straight line between the two thresholds around the
    crossing and takes the point with equal rates. ``"kaldi"`` walks up the scores of one-class pairs until
    the two-class score with the same share of its kind above it is lower. The rate is the share of steps
    taken.

    0 when every pair of one class outscores every other, 1 in reversed order (Kaldi's form stops one trial
    short of 1), 0.5 when all scores are equal (Kaldi's form knows no ties).

    >>> scores = torch.tensor([0.9, 0.8, 0.4, 0.7, 0.3, 0.2, 0.1], dtype=torch.double)
    >>> equal_error_rate(scores, torch.tensor([True] * 3 + [False] * 4))
    EqualError(rate=0.29166666666666663, threshold=0.7)
    """
    trials = sort_trials(scores, same)
    match form:
        case "nearest":
            return crossing(trials).nearest()
        case "interpolated":
            return crossing(trials).interpolated()
        case "kaldi":
            return _kaldi(trials)
    raise ValueError(f'expected the form "nearest", "interpolated" or "kaldi", got {form!r}')


def area_under_curve(scores: Tensor, same: Tensor) -> float:
    """The chance that a random pair of one class outscores a random pair of two; a tie counts half.

    It is the area under the receiver operating characteristic by the trapezoid rule: 1 for separated trials,
    0.5 for uninformative scores, 0 for separated trials in reversed order.

    >>> area_under_curve(torch.tensor([0.9, 0.6, 0.7, 0.1]), torch.tensor([True, True, False, False]))
    0.75
    """
    return _area(sort_trials(scores, same))


def equal_error_and_area(scores: Tensor, same: Tensor) -> tuple[EqualError, float]:
    """`equal_error_rate` and `area_under_curve` from one sort.

    >>> equal_error_and_area(torch.tensor([4, 3, 2, 1]), torch.tensor([True, True, False, False]))
    (EqualError(rate=0.0, threshold=3.0), 1.0)
    """
    trials = sort_trials(scores, same)
    return crossing(trials).nearest(), _area(trials)


def average_precision(scores: Tensor, same: Tensor) -> float:
    """The mean precision over the trials of one class: the share of one-class trials among those scoring as
    high.

    1 for separated trials; for uninformative scores about the share of one-class trials, so it depends on how
    many of each kind there are. Tied scores are accepted together.

    >>> average_precision(torch.tensor([0.9, 0.6, 0.7, 0.1]), torch.tensor([True, True, False, False]))
    0.8333333333333333
    """
    trials = sort_trials(scores, same)
    levels, sizes = torch.unique_consecutive(trials.targets, return_counts=True)
    targets, impostors = trials.accepted(levels)
    return float((sizes * targets.double() / (targets + impostors)).sum() / len(trials.targets))


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


def threshold_at(
    scores: Tensor, same: Tensor, *, false_accepts: float | None = None, false_rejects: float | None = None
) -> float:
    """The threshold for a wanted error rate: pass exactly one of the two rates.

    For false accepts it is the most lenient observed score whose rate is at most ``false_accepts``. If even
    the highest score accepts too many, it is the next larger number in the scores' own precision, which
    accepts none of these trials. A rate of 1 gives the lowest score.

    For false rejects it is the strictest observed score whose rate is at most ``false_rejects``. The lowest
    score rejects nothing, so there always is one. A rate of 1 gives the highest score.

    >>> scores, same = torch.tensor([0.875, 0.75, 0.5, 0.25]), torch.tensor([True, False, True, False])
    >>> threshold_at(scores, same, false_accepts=0.5), threshold_at(scores, same, false_accepts=0.0)
    (0.5, 0.875)
    >>> threshold_at(scores, same, false_rejects=0.5), threshold_at(scores, same, false_rejects=0.0)
    (0.875, 0.5)
    """
    for name, rate in (("false-accept", false_accepts), ("false-reject", false_rejects)):
        if rate is not None and not 0 <= rate <= 1:
            raise ValueError(f"expected a {name} rate from 0 to 1, got {rate}")
    if false_accepts is not None and false_rejects is None:
        return _at_false_accepts(scores, same, false_accepts)
    if false_rejects is not None and false_accepts is None:
        return _at_false_rejects(scores, same, false_rejects)
    raise ValueError(f"expected false_accepts or false_rejects, got {false_accepts} and {false_rejects}")


def true_accepts_at(scores: Tensor, same: Tensor, *, false_accepts: float) -> float:
    """The share of pairs of one class that are accepted where at most ``false_accepts`` of the others are.

    At the threshold of `threshold_at`: often written TAR@FAR. 1 for separated trials. With fewer
    than 1 / ``false_accepts`` pairs of two classes not one of them may be accepted, and the share rests on
    the highest of their scores alone.

    >>> scores, same = torch.tensor([0.875, 0.75, 0.5, 0.25]), torch.tensor([True, False, True, False])
    >>> true_accepts_at(scores, same, false_accepts=0.0), true_accepts_at(scores, same, false_accepts=0.5)
    (0.5, 1.0)
    """
    threshold = threshold_at(scores, same, false_accepts=false_accepts)
    accepted, same = _accepted(scores, same, threshold)
    return int((accepted & same).sum()) / int(same.sum())


def _kaldi(trials: SortedTrials) -> EqualError:
    targets, impostors = len(trials.targets), len(trials.impostors)

    def is_over(position: int) -> bool:
        return bool(
            trials.impostors[impostors - 1 - impostors * position // targets] < trials.targets[position]
        )

    # The walk ends at the last target, whatever its score.
    position = bisect.bisect_left(range(targets - 1), True, key=is_over)
    return EqualError(position / targets, float(trials.targets[position]))


def _area(trials: SortedTrials) -> float:
    return doubled_wins(trials) / (2 * len(trials.targets) * len(trials.impostors))


def _accepted(scores: Tensor, same: Tensor, threshold: float) -> tuple[Tensor, Tensor]:
    scores, same = checked(scores, same)
    if math.isnan(threshold):
        raise ValueError("expected a threshold to compare scores with, got NaN")
    # In the scores' own precision: float32 scores of 0.7 pass a threshold written as 0.7.
    return scores >= threshold, same


def _at_false_accepts(scores: Tensor, same: Tensor, rate: float) -> float:
    trials = sort_trials(scores, same)
    impostors = len(trials.impostors)
    allowed = _allowed(rate, impostors)
    if allowed == impostors:
        return min(float(rising[0]) for rising in trials)
    # The highest impostor that must stay below the threshold, and the next score of either kind.
    refused = trials.impostors[impostors - 1 - allowed]
    places = [int(torch.searchsorted(rising, refused, right=True)) for rising in trials]
    above = [
        float(rising[place]) for rising, place in zip(trials, places, strict=True) if place < len(rising)
    ]
    if above:
        return min(above)
    # In the scores' own precision; whole numbers count as the float64 they were sorted as.
    highest = refused.to(scores.dtype) if scores.is_floating_point() else refused
    return float(highest.nextafter(torch.full_like(highest, math.inf)))


def _at_false_rejects(scores: Tensor, same: Tensor, rate: float) -> float:
    trials = sort_trials(scores, same)
    allowed = _allowed(rate, len(trials.targets))
    if allowed == len(trials.targets):
        return max(float(rising[-1]) for rising in trials)
    return float(trials.targets[allowed])


def _allowed(rate: float, trials: int) -> int:
    """The largest number of trials whose share, as Python rounds it, is at most the rate."""
    return bisect.bisect_right(range(1, trials + 1), rate, key=lambda count: count / trials)

"""Curves of verification: both errors at every threshold, and the two usual ways to draw them.

Martin et al., "The DET Curve in Assessment of Detection Task Performance", Eurospeech 1997.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.measures.sorted_trials import sort_trials


class ErrorRates(NamedTuple):
    """Both rates at every threshold, each (thresholds,) in float64, the strictest threshold first."""

    thresholds: Tensor
    false_accepts: Tensor
    false_rejects: Tensor


class OperatingCurve(NamedTuple):
    """Accepted shares of both kinds, each (thresholds,) in float64, the strictest threshold first."""

    thresholds: Tensor
    false_accepts: Tensor
    true_accepts: Tensor


class Tradeoff(NamedTuple):
    """Both rates and their probits, each (thresholds,) in float64, the strictest threshold first."""

    thresholds: Tensor
    false_accepts: Tensor
    false_rejects: Tensor
    false_accept_probits: Tensor
    false_reject_probits: Tensor


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
    rising, *sizes = sort_trials(scores, same).levels()
    nothing = torch.full_like(rising[:1], math.inf)
    thresholds = torch.cat([nothing, rising.flip(0)]).double()
    targets, impostors = (
        torch.cat([torch.zeros_like(counts[:1]), counts.flip(0).cumsum(0)]).double() for counts in sizes
    )
    # The last entry accepts all. Dividing by it as a tensor, not as a number, rounds correctly on every
    # device, so that 3 false accepts of 10 are the number 0.3.
    missed = targets[-1] - targets
    return ErrorRates(thresholds, impostors / impostors[-1], missed / targets[-1])


def receiver_operating_characteristic(scores: Tensor, same: Tensor) -> OperatingCurve:
    """True against false accepts, from (0, 0) at an infinite threshold to (1, 1) at the lowest score.

    Only the corners are kept: a point in the middle of a straight step draws nothing, and millions of
    trials would be millions of points.

    >>> curve = receiver_operating_characteristic(
    ...     torch.tensor([4, 3, 2, 1]), torch.tensor([True, True, False, False])
    ... )
    >>> curve.thresholds.tolist()
    [inf, 3.0, 1.0]
    >>> curve.false_accepts.tolist(), curve.true_accepts.tolist()
    ([0.0, 0.0, 1.0], [0.0, 1.0, 1.0])
    """
    thresholds, targets, impostors = _corners(scores, same)
    return OperatingCurve(thresholds, impostors / impostors[-1], targets / targets[-1])


def detection_error_tradeoff(scores: Tensor, same: Tensor) -> Tradeoff:
    """False rejects against false accepts, with the probits (normal deviates) both axes are drawn in.

    If the scores of both kinds are normally distributed, the probits form a straight line. A rate of 0 or 1
    has an infinite probit and is drawn half a trial from the end of its axis; the rates do not change. As
    with the other curve, only the corners are kept.

    >>> curve = detection_error_tradeoff(
    ...     torch.tensor([4, 3, 2, 1]), torch.tensor([True, False, True, False])
    ... )
    >>> curve.false_accepts.tolist(), curve.false_rejects.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [1.0, 0.5, 0.5, 0.0, 0.0])
    >>> [round(each, 2) for each in curve.false_accept_probits.tolist()]
    [-0.67, -0.67, 0.0, 0.0, 0.67]
    """
    thresholds, targets, impostors = _corners(scores, same)
    accepts, rejects = impostors / impostors[-1], (targets[-1] - targets) / targets[-1]
    probits = []
    for rates, trials in ((accepts, impostors[-1]), (rejects, targets[-1])):
        half = 0.5 / trials
        probits.append(torch.special.ndtri(rates.clamp(half, 1 - half)))
    return Tradeoff(thresholds, accepts, rejects, probits[0], probits[1])


def _corners(scores: Tensor, same: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Thresholds and accepted trials of one class and of two where the curve turns, strictest first."""
    rising, *sizes = sort_trials(scores, same).levels()
    targets, impostors = (counts.flip(0) for counts in sizes)
    # A point is no corner when the step before it and the one after go the same way: all up or all right.
    straight = ((targets[1:] == 0) & (targets[:-1] == 0)) | ((impostors[1:] == 0) & (impostors[:-1] == 0))
    corner = torch.cat([~straight, straight.new_ones(1)])
    start = torch.zeros(1, dtype=torch.double, device=rising.device)
    accepted = [torch.cat([start, counts.cumsum(0)[corner].double()]) for counts in (targets, impostors)]
    return torch.cat([start + math.inf, rising.flip(0)[corner].double()]), accepted[0], accepted[1]

"""The measures of trials that can be drawn again: from the trials, and from the curves of replicates."""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
from torch import Tensor

from samekind.measures.checks import check_replicates
from samekind.measures.costs import Costs, log_likelihood_ratio_cost, minimum_detection_cost
from samekind.measures.intervals import Interval, hull, proportion_interval
from samekind.measures.resampling import Curves, Numbers
from samekind.measures.verification import accuracy_at, area_under_curve, equal_error_rate, rates_at

Statistic = Literal["EER", "AUC", "FAR", "FRR", "accuracy", "minDCF", "strict minDCF", "Cllr"]
#: The least detection costs: at the prior, and at a tenth of it.
LEAST_COSTS: tuple[Statistic, ...] = ("minDCF", "strict minDCF")
#: What the rates would be, had a single trial gone wrong.
Single = Literal["one false accept", "one false reject"]
AT_A_THRESHOLD = ("FAR", "FRR", "accuracy")


class Unseen(NamedTuple):
    """The upper end of each error rate when no error was seen: that of the interval of one error."""

    false_accepts: float
    false_rejects: float


def check_statistics(
    statistics: Sequence[str], thresholds: Sequence[float | None], costs: Costs, replicates: int
) -> None:
    """ValueError if a name is unknown, a threshold is missing, or a cost or the replicates are invalid."""
    for name in statistics:
        if name not in get_args(Statistic):
            raise ValueError(f"expected statistics among {', '.join(get_args(Statistic))}, got {name!r}")
        if name in AT_A_THRESHOLD and any(
            threshold is None or math.isnan(threshold) for threshold in thresholds
        ):
            raise ValueError(f"expected a threshold for {name}, got none")
    costs.check()
    check_replicates(replicates)


def value_of(name: Statistic, scores: Tensor, same: Tensor, threshold: float | None, costs: Costs) -> float:
    """A measure of all trials, as the room defines it."""
    cut = math.nan if threshold is None else threshold
    match name:
        case "EER":
            return equal_error_rate(scores, same).rate
        case "AUC":
            return area_under_curve(scores, same)
        case "FAR":
            return rates_at(scores, same, cut)[0]
        case "FRR":
            return rates_at(scores, same, cut)[1]
        case "accuracy":
            return accuracy_at(scores, same, cut)
        case "minDCF" | "strict minDCF":
            prior, miss, false_accept = _costs_of(name, costs)
            return minimum_detection_cost(
                scores, same, prior=prior, miss_cost=miss, false_accept_cost=false_accept
            ).cost
        case "Cllr":
            return log_likelihood_ratio_cost(scores, same)


def values_of(name: Statistic | Single, curves: Curves, costs: Costs) -> Numbers:
    """The same measure in every replicate: (replicates,)."""
    accepts, rejects = curves.false_accepts, curves.false_rejects
    match name:
        case "EER":
            nearest = np.abs(accepts - rejects).argmin(0)[None]
            sums = np.take_along_axis(accepts, nearest, 0) + np.take_along_axis(rejects, nearest, 0)
            return np.asarray(sums[0] / 2)
        case "AUC":
            nothing = np.zeros_like(accepts[:1])
            hits = 1 - np.concatenate([nothing + 1, rejects])
            steps = np.diff(accepts, axis=0, prepend=nothing)
            return np.asarray((steps * (hits[1:] + hits[:-1])).sum(0) / 2)
        case "FAR":
            return _at(accepts, curves.accepting, nothing_accepted=0.0)
        case "FRR":
            return _at(rejects, curves.accepting, nothing_accepted=1.0)
        case "accuracy":
            wrong = _at(accepts, curves.accepting, nothing_accepted=0.0) * curves.different_weight
            wrong = wrong + _at(rejects, curves.accepting, nothing_accepted=1.0) * curves.same_weight
            return 1 - wrong / (curves.different_weight + curves.same_weight)
        case "minDCF" | "strict minDCF":
            miss, false_accept = _costs_of(name, costs).weights
            return np.asarray(np.minimum((miss * rejects + false_accept * accepts).min(0), miss))
        case "Cllr":
            return curves.surprise
        case "one false accept":
            return curves.one_accepted
        case "one false reject":
            return curves.one_rejected


def not_too_sure(name: Statistic, interval: Interval, same: Tensor, costs: Costs, unseen: Unseen) -> Interval:
    """The interval, widened to at least that of independent trials, within the range of the measure.

    Without errors, or with errors only, replicates have no spread. Then the interval is at least as wide as
    for one error, and as that of the rule of three.
    """
    targets = int(same.sum())
    impostors = len(same) - targets
    match name:
        case "FAR":
            return _share(interval, impostors, unseen.false_accepts)
        case "FRR":
            return _share(interval, targets, unseen.false_rejects)
        case "accuracy":
            wrong = max(unseen.false_accepts * impostors, unseen.false_rejects * targets)
            return _share(interval, len(same), wrong / len(same))
    most = max(
        unseen.false_accepts, unseen.false_rejects, proportion_interval(0, min(targets, impostors)).high
    )
    if name == "Cllr":
        return Interval(interval.mean, max(interval.low, 0.0), interval.high)
    least = most
    if name in LEAST_COSTS:
        # One false reject less costs a miss less; one error more may cost both.
        weights = _costs_of(name, costs).weights
        least, most = weights[0] * most, sum(weights) * most
    return _at_the_ends(interval, most, least)


def _costs_of(name: Statistic | Single, costs: Costs) -> Costs:
    return costs.strict if name == "strict minDCF" else costs


def _share(interval: Interval, trials: int, unseen: float) -> Interval:
    """A share of trials, at least as wide as of independent ones, and for 0 or 1 as that of one error."""
    wide = hull(interval, proportion_interval(round(interval.mean * trials), trials))
    return _at_the_ends(wide, unseen, unseen)


def _at_the_ends(interval: Interval, above: float, below: float) -> Interval:
    """The interval of 0 reaches at least to ``above``, that of 1 down to 1 - ``below``; within 0 and 1."""
    if interval.mean == 0:
        return hull(interval, Interval(0.0, 0.0, above))
    if interval.mean == 1:
        return hull(interval, Interval(1.0, 1 - below, 1.0))
    return hull(interval, interval)


def _at(rates: Numbers, accepting: int, *, nothing_accepted: float) -> Numbers:
    """The rates at the given threshold. A threshold above every score accepts nothing."""
    return rates[accepting - 1] if accepting else np.full(rates.shape[1], nothing_accepted)

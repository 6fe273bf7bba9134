"""Does a threshold still give what it promised? The rates it was stored with against new trials.

Both were measured on a sample of classes. Their difference, in log odds, is compared with the two
uncertainties together, which add up by their squares. A promise is broken if the rate is higher by more
than that; it holds if the rate is at most 1.5 times the promised one; in between it is undecided.
"""

import math
from typing import NamedTuple

from samekind.data import Items
from samekind.decisions import Decision
from samekind.inference.open_set import open_set_rates
from samekind.inference.points import operating_point
from samekind.inference.trials import Trials
from samekind.inference.verify import rate_intervals
from samekind.measures import FEWEST_CLASSES, Interval, rates_at
from samekind.space import MetricSpace

#: A promise holds up to so many times its odds, which for low rates is as many times the rate.
AS_PROMISED = 1.5


class PromisedRate(NamedTuple):
    """One error rate: what was promised, and what new trials measure, with its interval.

    ``upper`` is the upper end of the promised rate's own interval; None if it is unknown, and the promise
    is then taken as exact. Trials of too few classes have an ``upper`` of 1, which nothing breaks, or an
    interval from 0 to 1, with which nothing holds.
    """

    promised: float
    measured: Interval
    upper: float | None = None

    @property
    def broken(self) -> bool:
        """Whether the measured rate is higher by more than the two uncertainties together allow."""
        upper = max(self.promised, self.promised if self.upper is None else self.upper)
        # A rate of 0 or 1 is infinite in log odds, so the end of its interval is used.
        promised = _log_odds(self.promised if self.promised > 0 else upper)
        measured = _log_odds(self.measured.mean if self.measured.mean < 1 else self.measured.low)
        of_fit = _log_odds(upper) - promised
        of_new = measured - _log_odds(min(self.measured.low, self.measured.mean))
        return measured - promised > math.hypot(of_new, of_fit)

    @property
    def holds(self) -> bool:
        """Whether the measured rate is at most 1.5 times the promised one; never with an interval from 0 to
        1.
        """
        if self.broken or self.measured[1:] == (0, 1):
            return False
        measured, promised = self.measured.mean, self.promised
        return measured * (1 - promised) <= AS_PROMISED * promised * (1 - measured)

    @property
    def verdict(self) -> str:
        """The same in words; a higher rate that the intervals allow is undecided."""
        if self.broken or self.holds:
            return "does not hold" if self.broken else "holds"
        if self.upper == 1 or self.measured[1:] == (0, 1):
            return f"cannot be told, fewer than {FEWEST_CLASSES} classes"
        return "cannot be told, the interval is wide"


class Promise(NamedTuple):
    """Both error rates of a decision on new trials."""

    false_accepts: PromisedRate
    false_rejects: PromisedRate

    @property
    def broken(self) -> bool:
        """Whether one of the rates does not hold."""
        return self.false_accepts.broken or self.false_rejects.broken

    @property
    def holds(self) -> bool:
        """Whether both rates hold. A promise can be neither broken nor held."""
        return self.false_accepts.holds and self.false_rejects.holds

    @property
    def sentence(self) -> str:
        """Both rates and their verdicts in words."""
        return "; ".join(
            f"promised {_percent(rate.promised)}% {name}{_up_to(rate)}, "
            f"measured {_percent(rate.measured.mean)}% "
            f"({_percent(rate.measured.low)} to {_percent(rate.measured.high)}): "
            f"{rate.verdict}"
            for name, rate in (("false accepts", self.false_accepts), ("false rejects", self.false_rejects))
        )


def check_promise(decision: Decision, trials: Trials, *, seed: int = 0) -> Promise:
    """Compare a stored decision with trials it was not fitted on, of the same kind of score.

    A rate that the operating point names (``far=0.01``) is the promise; the other rate is the one that the
    decision had on its own trials. Only a difference beyond the intervals of both, the stored one and the new
    one, breaks a promise. A decision without intervals is taken as exact.

    The intervals are over classes. Trials of fewer than three classes, then or now, break no promise.
    """
    accepts, rejects = (
        interval if interval is not None else Interval(rate, 0.0, 1.0)
        for interval, rate in zip(
            rate_intervals(trials, decision.threshold, seed=seed),
            rates_at(trials.scores, trials.same, decision.threshold),
            strict=True,
        )
    )
    return _compared(decision, accepts, rejects)


def check_open_set(space: MetricSpace, known: Items, unknown: Items, *, seed: int = 0) -> Promise | None:
    """Compare the stored threshold for "none of these" with items it was not fitted on; None without one.

    ``known`` are items of the space's classes, ``unknown`` of others, as for `fit_open_set`.
    """
    decision = space.open_set
    if decision is None:
        return None
    return _compared(decision, *open_set_rates(space, known, unknown, decision, seed=seed))


def _compared(decision: Decision, accepts: Interval, rejects: Interval) -> Promise:
    point = operating_point(decision.point)
    far, frr = (point.rate if point.name == name else None for name in ("far", "frr"))
    of_accepts, of_rejects = decision.false_accept_interval, decision.false_reject_interval
    return Promise(
        _promised_rate(decision.false_accepts, of_accepts, accepts, far, decision.classes),
        _promised_rate(decision.false_rejects, of_rejects, rejects, frr, decision.classes),
    )


def _promised_rate(
    fitted: float, stored: tuple[float, float] | None, measured: Interval, target: float | None, classes: int
) -> PromisedRate:
    """The promise is the target or else the fitted rate, with the relative uncertainty of the fitted one."""
    promised = fitted if target is None else target
    if stored is None:
        return PromisedRate(promised, measured, 1.0 if 0 < classes < FEWEST_CLASSES else None)
    upper = stored[1]
    if target is not None and 0 < fitted < 1:
        # The same ratio of odds; a fitted rate of 0 has no odds.
        upper = 1 / (1 + math.exp(_log_odds(fitted) - _log_odds(upper) - _log_odds(target)))
    return PromisedRate(promised, measured, max(promised, upper))


def _log_odds(rate: float) -> float:
    inside = min(max(rate, 1e-12), 1 - 1e-12)  # finite for 0 and 1
    return math.log(inside) - math.log1p(-inside)


def _up_to(rate: PromisedRate) -> str:
    return "" if rate.upper is None else f" (up to {_percent(rate.upper)})"


def _percent(rate: float) -> str:
    """Two decimals, or two significant digits for a tiny rate."""
    return f"{100 * rate:.2f}" if rate == 0 or rate >= 0.001 else f"{100 * rate:.2g}"

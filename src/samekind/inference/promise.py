"""Does a threshold still give what it promised? The rates it was stored with against new trials.

Both were measured on a sample of classes, so both may be off. Their difference, in log odds, is held against
both errors together, which add up as independent ones do: by their squares. A promise does not hold where the
rate is higher by more than that; it holds where the rate is at most half as much again as promised; what lies
between cannot be told.
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

#: A rate is as promised up to so many times its odds, for low rates as good as so many times the rate. The
#: odds, because of a promise above two thirds no rate is half as much again.
AS_PROMISED = 1.5


class PromisedRate(NamedTuple):
    """One error rate: what was promised, and what new trials measure, with its interval.

    ``upper`` is how high the promised rate may be, for what the trials of the fit could tell; None where that
    is not known. Then the promise is taken as exact. Trials of too few classes leave everything open: an
    ``upper`` of 1, which nothing breaks; an interval from 0 to 1, with which nothing holds either.
    """

    promised: float
    measured: Interval
    upper: float | None = None

    @property
    def broken(self) -> bool:
        """Whether the measured rate is higher by more than the two uncertainties together allow."""
        upper = max(self.promised, self.promised if self.upper is None else self.upper)
        # A rate of 0 or 1 is infinitely far away on this scale; the end of its interval stands for it.
        promised = _log_odds(self.promised if self.promised > 0 else upper)
        measured = _log_odds(self.measured.mean if self.measured.mean < 1 else self.measured.low)
        of_fit = _log_odds(upper) - promised
        of_new = measured - _log_odds(min(self.measured.low, self.measured.mean))
        return measured - promised > math.hypot(of_new, of_fit)

    @property
    def holds(self) -> bool:
        """Whether it is not broken, and the measured rate at most half as much again as promised. An interval
        from 0 to 1 is no evidence for it.
        """
        if self.broken or self.measured[1:] == (0, 1):
            return False
        measured, promised = self.measured.mean, self.promised
        return measured * (1 - promised) <= AS_PROMISED * promised * (1 - measured)

    @property
    def verdict(self) -> str:
        """The same in words: a higher rate that the intervals still allow is neither."""
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
        """Whether both rates hold; where this cannot be told of one, it is neither so nor broken."""
        return self.false_accepts.holds and self.false_rejects.holds

    @property
    def sentence(self) -> str:
        """The whole in words."""
        return "; ".join(
            f"promised {_percent(each.promised)}% {name}{_up_to(each)}, "
            f"measured {_percent(each.measured.mean)}% "
            f"({_percent(each.measured.low)} to {_percent(each.measured.high)}): "
            f"{each.verdict}"
            for name, each in (("false accepts", self.false_accepts), ("false rejects", self.false_rejects))
        )


def check_promise(decision: Decision, trials: Trials, *, seed: int = 0) -> Promise:
    """A stored decision held against trials it was not fitted on, of the same kind of score.

    A rate that was asked for (``far=0.01``) is the promise; the other is the one the decision had on its own
    trials. Either was told from a sample: the interval stored with the decision counts as much as that of the
    new trials, and only a difference beyond both together breaks the promise. A decision without intervals
    is taken at its word.

    The intervals are over classes. Fewer than three of them, then or now, cannot say how much classes differ,
    and their pairs share too many items to pass for independent trials: they break no promise.
    """
    accepts, rejects = (
        each if each is not None else Interval(rate, 0.0, 1.0)
        for each, rate in zip(
            rate_intervals(trials, decision.threshold, seed=seed),
            rates_at(trials.scores, trials.same, decision.threshold),
            strict=True,
        )
    )
    return _held_against(decision, accepts, rejects)


def check_open_set(space: MetricSpace, known: Items, unknown: Items, *, seed: int = 0) -> Promise | None:
    """The stored threshold for "none of these" held against items it was not fitted on; None without one.

    ``known`` are items of the space's classes, ``unknown`` of others, as for `fit_open_set`.
    """
    decision = space.open_set
    if decision is None:
        return None
    return _held_against(decision, *open_set_rates(space, known, unknown, decision, seed=seed))


def _held_against(decision: Decision, accepts: Interval, rejects: Interval) -> Promise:
    """What was asked for is the promise of its rate; that of the other is what the fit had."""
    point = operating_point(decision.point)
    return Promise(
        _promised_rate(
            decision.false_accepts,
            decision.false_accept_interval,
            accepts,
            asked=point.rate if point.name == "far" else None,
            classes=decision.classes,
        ),
        _promised_rate(
            decision.false_rejects,
            decision.false_reject_interval,
            rejects,
            asked=point.rate if point.name == "frr" else None,
            classes=decision.classes,
        ),
    )


def _promised_rate(
    fitted: float,
    stored: tuple[float, float] | None,
    measured: Interval,
    *,
    asked: float | None,
    classes: int,
) -> PromisedRate:
    """The fitted rate, or the one asked for, is as unsure as the fitted one was measured to be."""
    promised = fitted if asked is None else asked
    if stored is None:
        return PromisedRate(promised, measured, 1.0 if 0 < classes < FEWEST_CLASSES else None)
    upper = stored[1]
    if asked is not None and 0 < fitted < 1:
        # As many times the odds of the one asked for; a fitted rate of 0 has no odds to multiply.
        upper = 1 / (1 + math.exp(_log_odds(fitted) - _log_odds(upper) - _log_odds(asked)))
    return PromisedRate(promised, measured, max(promised, upper))


def _log_odds(rate: float) -> float:
    inside = min(max(rate, 1e-12), 1 - 1e-12)  # 0 and 1 are far away, not infinitely
    return math.log(inside) - math.log1p(-inside)


def _up_to(each: PromisedRate) -> str:
    return "" if each.upper is None else f" (up to {_percent(each.upper)})"


def _percent(rate: float) -> str:
    """Two digits that say something, never more than two decimals unless the rate is tiny."""
    return f"{100 * rate:.2f}" if rate == 0 or rate >= 0.001 else f"{100 * rate:.2g}"

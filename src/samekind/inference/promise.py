"""Does a threshold still give what it promised? The rates it was stored with against new trials."""

from typing import NamedTuple

from samekind.inference.points import operating_point
from samekind.inference.trials import Trials
from samekind.inference.verify import rate_intervals
from samekind.measures import Interval, proportion_interval, rates_at
from samekind.space import Decision


class Kept(NamedTuple):
    """One error rate: what was promised, and what new trials measure, with its interval."""

    promised: float
    measured: Interval

    @property
    def holds(self) -> bool:
        """Whether the promise lies within what was measured, or the measured is better."""
        return self.promised >= self.measured.low

    @property
    def verdict(self) -> str:
        """The same in words; a promise that only a wide interval still allows is not said to hold."""
        if not self.holds:
            return "does not hold"
        return "holds" if self.measured.mean <= 3 * self.promised else "cannot be told, the interval is wide"


class Promise(NamedTuple):
    """Both error rates of a decision on new trials."""

    false_accepts: Kept
    false_rejects: Kept

    @property
    def holds(self) -> bool:
        """Whether both rates keep what was promised."""
        return self.false_accepts.holds and self.false_rejects.holds

    @property
    def sentence(self) -> str:
        """The whole in words."""
        return "; ".join(
            f"promised {_percent(each.promised)}% {name}, measured {_percent(each.measured.mean)}% "
            f"({_percent(each.measured.low)} to {_percent(each.measured.high)}): "
            f"{each.verdict}"
            for name, each in (("false accepts", self.false_accepts), ("false rejects", self.false_rejects))
        )


def kept(decision: Decision, trials: Trials, *, seed: int = 0) -> Promise:
    """A stored decision held against trials it was not fitted on, of the same kind of score.

    A rate that was asked for (``far=0.01``) is the promise; the other is the one the decision had on its own
    trials. The intervals are over classes; of fewer than three classes they are those of independent
    trials, which is too narrow, so that a promise is given up too soon rather than too late.
    """
    rates = rates_at(trials.scores, trials.same, decision.threshold)
    counts = int((~trials.same).sum()), int(trials.same.sum())
    intervals = rate_intervals(trials, decision.threshold, seed=seed)
    accepts, rejects = (
        each if each is not None else proportion_interval(round(rate * count), count)
        for each, rate, count in zip(intervals, rates, counts, strict=True)
    )
    point = operating_point(decision.point)
    return Promise(
        Kept(point.rate if point.name == "far" else decision.false_accepts, accepts),
        Kept(point.rate if point.name == "frr" else decision.false_rejects, rejects),
    )


def _percent(rate: float) -> str:
    """Two digits that say something, never more than two decimals unless the rate is tiny."""
    return f"{100 * rate:.2f}" if rate == 0 or rate >= 0.001 else f"{100 * rate:.2g}"

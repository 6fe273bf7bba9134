"""Intervals: a mean and how far it can be trusted, at 95 %.

``normal_interval`` is for many values (the tasks of a few-shot test), ``student_interval`` for few
(the seeds of a run), ``paired_difference`` for two systems tried on the same seeds or tasks. All take
(n,) finite values. ``proportion_interval`` is for a count of errors among independent trials.

Student, "The Probable Error of a Mean", Biometrika 1908; Clopper and Pearson, "The Use of Confidence or
Fiducial Limits Illustrated in the Case of the Binomial", Biometrika 1934; Wilson, "Probable Inference, the
Law of Succession, and Statistical Inference", Journal of the American Statistical Association 1927.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from samekind.measures.checks import check_finite


class Interval(NamedTuple):
    """A mean between the two ends of its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """The number after the plus-minus sign."""
        return (self.high - self.low) / 2


def normal_interval(values: Tensor | Sequence[float]) -> Interval:
    """Mean plus and minus 1.96 population standard deviations over sqrt(n), as few-shot work reports it.

    Too narrow for few values, where ``student_interval`` is right; a single value gets no width at all.

    >>> normal_interval([0.0, 0.0, 1.0, 1.0]).half
    0.49
    """
    checked = checked_values(values, "values")
    return _around(checked, 1.96 * float(checked.std(correction=0)))


def student_interval(values: Tensor | Sequence[float]) -> Interval:
    """Mean and its interval by Student's t: n - 1 degrees of freedom, sample standard deviation.

    A single value raises a ValueError, because it has no spread. Equal values give an interval without width.

    >>> round(student_interval([1.0, 2.0, 3.0]).half, 3)
    2.484
    """
    checked = checked_values(values, "values")
    if len(checked) < 2:
        raise ValueError("expected at least two values to estimate a spread, got one")
    # Imported here because it is slow, and most users of the room never need it.
    from scipy.special import stdtrit

    return _around(checked, float(stdtrit(len(checked) - 1, 0.975)) * float(checked.std()))


def paired_difference(first: Tensor | Sequence[float], second: Tensor | Sequence[float]) -> Interval:
    """The Student interval of first minus second, entry by entry.

    Entry i of both must come from the same seed, fold or task, so that their common part cancels. The
    difference is significant at 5 % if the interval does not contain 0.

    >>> round(paired_difference([3.0, 5.0, 10.0], [2.0, 3.0, 7.0]).low, 3)
    -0.484
    """
    first_values, second_values = checked_values(first, "first"), checked_values(second, "second")
    if len(first_values) != len(second_values):
        raise ValueError(
            "expected pairs, as many values in first as in second, got "
            f"{len(first_values)} and {len(second_values)}"
        )
    return student_interval(first_values - second_values)


def proportion_interval(hits: int, trials: int, *, form: Literal["exact", "wilson"] = "exact") -> Interval:
    """The share of ``hits`` among independent ``trials`` and its 95 % interval, 2.5 % beyond each end.

    "exact" (Clopper and Pearson) contains the true share at least 95 % of the time; "wilson" is narrower and
    does so 95 % of the time on average. With no hit among n the upper end is about 3.7 / n. (The rule of
    three, 3 / n, leaves 5 % beyond its one end.) Trials that share items or classes are not independent: see
    `bootstrap_trials`.

    >>> round(proportion_interval(0, 100).high, 4), round(proportion_interval(50, 100).half, 4)
    (0.0362, 0.1017)
    >>> round(proportion_interval(50, 100, form="wilson").half, 4)
    0.0962
    """
    if trials < 1 or not 0 <= hits <= trials:
        raise ValueError(f"expected at least one trial and from 0 to that many hits, got {hits} of {trials}")
    share = hits / trials
    if form == "wilson":
        squared = 1.959963984540054**2
        centre = (hits + squared / 2) / (trials + squared)
        reach = math.sqrt(squared * (hits * (1 - share) + squared / 4)) / (trials + squared)
        # At 0 and 1 the exact ends are known; the formula would round.
        return Interval(share, max(centre - reach, 0.0), min(centre + reach, 1.0))
    if form != "exact":
        raise ValueError(f'expected the form "exact" or "wilson", got "{form}"')
    from scipy.special import betaincinv

    low = float(betaincinv(hits, trials - hits + 1, 0.025)) if hits else 0.0
    high = float(betaincinv(hits + 1, trials - hits, 0.975)) if hits < trials else 1.0
    return Interval(share, low, high)


def hull(interval: Interval, least: Interval) -> Interval:
    """The interval of a share, widened to contain ``least``, within 0 and 1."""
    low, high = min(interval.low, least.low), max(interval.high, least.high)
    return Interval(interval.mean, max(low, 0.0), min(high, 1.0))


def checked_values(values: Tensor | Sequence[float], name: str) -> Tensor:
    """The values in float64, without gradient."""
    checked = torch.as_tensor(values, dtype=torch.float64).detach()
    if checked.ndim != 1 or len(checked) == 0:
        raise ValueError(f"expected {name} of shape (n,), at least one, got shape {tuple(checked.shape)}")
    check_finite(checked, name)
    return checked


def _around(values: Tensor, reach: float) -> Interval:
    mean, half = float(values.mean()), reach / math.sqrt(len(values))
    return Interval(mean, mean - half, mean + half)

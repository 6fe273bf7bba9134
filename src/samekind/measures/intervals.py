"""Intervals: a mean and how far it can be trusted, at 95 %.

``normal_interval`` is for many values (the tasks of a few-shot test), ``student_interval`` for few
(the seeds of a run), ``paired_difference`` for two systems tried on the same seeds or tasks. All take
(n,) finite values.

Student, "The Probable Error of a Mean", Biometrika 1908.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


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
    checked = _checked(values, "values")
    return _around(checked, 1.96 * float(checked.std(correction=0)))


def student_interval(values: Tensor | Sequence[float]) -> Interval:
    """Mean and its interval by Student's t: n - 1 degrees of freedom, sample standard deviation.

    Needs at least two values: one says nothing about its own spread. Equal values give no width.

    >>> round(student_interval([1.0, 2.0, 3.0]).half, 3)
    2.484
    """
    checked = _checked(values, "values")
    if len(checked) < 2:
        raise ValueError("expected at least two values to tell a spread from, got one")
    # Imported here because it is slow, and most users of the room never need it.
    from scipy.special import stdtrit

    return _around(checked, float(stdtrit(len(checked) - 1, 0.975)) * float(checked.std()))


def paired_difference(first: Tensor | Sequence[float], second: Tensor | Sequence[float]) -> Interval:
    """The Student interval of first minus second, entry by entry.

    Entry i of both must come from the same seed, fold or task: what they share then cancels. The
    difference is clear at this level when the interval leaves out 0.

    >>> round(paired_difference([3.0, 5.0, 10.0], [2.0, 3.0, 7.0]).low, 3)
    -0.484
    """
    one, other = _checked(first, "first"), _checked(second, "second")
    if len(one) != len(other):
        raise ValueError(
            f"expected pairs, as many values in first as in second, got {len(one)} and {len(other)}"
        )
    return student_interval(one - other)


def _checked(values: Tensor | Sequence[float], name: str) -> Tensor:
    """The values in float64, without gradient."""
    checked = torch.as_tensor(values, dtype=torch.float64).detach()
    if checked.ndim != 1 or len(checked) == 0:
        raise ValueError(f"expected {name} of shape (n,), at least one, got shape {tuple(checked.shape)}")
    if not checked.isfinite().all():
        broken = int((~checked.isfinite()).sum())
        raise ValueError(f"expected finite {name}, got {broken} of {len(checked)} that are NaN or infinite")
    return checked


def _around(values: Tensor, reach: float) -> Interval:
    mean, half = float(values.mean()), reach / math.sqrt(len(values))
    return Interval(mean, mean - half, mean + half)

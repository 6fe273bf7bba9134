"""A measure before its interval is made: what it is the mean of, or what it is when units are drawn again.

The same units drawn with the same seed in two systems make their difference a paired one.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.evaluation.rows import Row
from samekind.measures import bootstrap_mean, normal_interval, paired_bootstrap_mean
from samekind.measures.bootstrap import difference_around, interval_around
from samekind.measures.catalogue import named
from samekind.measures.measure import Measure

#: Draws of a mean, and of a measure that has to be computed anew each time; of very many units, fewer.
REPLICATES, COMPUTED, MANY = 1000, 200, 10_000


class Sample(NamedTuple):
    """A value with ``values`` (units,), of which it is the mean, or ``replicates``, what it is when that many
    ``units`` are drawn again; with neither it has no interval.
    """

    question: str
    items: str
    measure: str
    kind: str
    unit: str
    value: float
    values: Tensor | None = None
    replicates: Tensor | None = None
    units: int = 0


class Compared(NamedTuple):
    """One measure of two systems on the same units, and by how much the first is above the second.

    ``low`` to ``high`` is the 95% interval of the difference and ``p_value`` that of no difference, both
    paired; none where there are too few units to tell.
    """

    question: str
    items: str
    measure: str
    kind: str
    first: float
    second: float
    difference: float
    low: float | None
    high: float | None
    p_value: float | None
    unit: str

    @property
    def entry(self) -> Measure:
        """What the catalogue says about the measure."""
        return named(self.measure)

    @property
    def text(self) -> str:
        """The difference with its sign and interval, in percentage points if the values are in per cent."""
        ends = self.entry.ends(self.low, self.high, dash=" to ", sign="+")
        return self.entry.number(self.difference, sign="+") + (f" ({ends})" if ends else "")


def replicated(measure: Callable[[Tensor], float], units: int, *, seed: int) -> Tensor:
    """A measure of ``units`` indices drawn again and again, with replacement: (replicates,)."""
    generator = torch.Generator().manual_seed(seed)
    count = COMPUTED if units <= MANY else COMPUTED // 4
    drawn = (torch.randint(units, (units,), generator=generator) for _ in range(count))
    return torch.tensor([measure(indices) for indices in drawn], dtype=torch.double)


def row_of(sample: Sample, *, seed: int = 0) -> Row:
    """The row of a sample; its interval is made by drawing its units again.

    Episodes get the normal interval that few-shot work reports. An interval without width, as that of a
    measure without a single mistake, says nothing about the next test: then there is none.
    """
    low, high = _interval(sample, seed)
    return Row(
        sample.question,
        sample.items,
        sample.measure,
        sample.kind,
        sample.value,
        low,
        high,
        sample.unit if low is not None else "",
    )


def compared(first: Sample, second: Sample, *, seed: int = 0) -> Compared:
    """The paired difference of two samples of one measure; both must be of the same units."""
    found = None
    if first.values is not None and second.values is not None and len(first.values) > 1:
        draws = _draws(len(first.values))
        found = paired_bootstrap_mean(first.values, second.values, replicates=draws, seed=seed)
    elif first.replicates is not None and second.replicates is not None and first.units > 1:
        gaps = (first.replicates - second.replicates).numpy()
        found = difference_around(first.value - second.value, gaps, first.units)
    (_, low, high), p_value = found if found is not None else ((0.0, None, None), None)
    return difference(first[:4], (first.value, second.value), (low, high), p_value, first.unit)


def difference(
    asked: tuple[str, str, str, str],
    values: tuple[float, float],
    ends: tuple[float | None, float | None],
    p_value: float | None,
    unit: str,
) -> Compared:
    """The line of two values; an interval without width, as where all answers are the same, is none."""
    low, high = ends if ends[0] != ends[1] else (None, None)
    gap = values[0] - values[1]
    return Compared(*asked, *values, gap, low, high, p_value, unit if low is not None else "")


def _interval(sample: Sample, seed: int) -> tuple[float, float] | tuple[None, None]:
    low = high = 0.0
    if sample.values is not None and len(sample.values) > 1:
        if sample.unit == "episodes":
            _, low, high = normal_interval(sample.values)
            low, high = max(low, 0.0), min(high, 1.0)
        else:
            draws = _draws(len(sample.values))
            _, low, high = bootstrap_mean(sample.values, replicates=draws, seed=seed)
    elif sample.replicates is not None and sample.units > 1:
        # Around the value, not around the replicates, whose mean is off where a measure depends on the size
        # of the set: what is drawn twice agrees with itself. Agreement beyond chance can be negative.
        is_share = min(float(sample.replicates.min()), sample.value) >= 0
        _, low, high = interval_around(
            sample.value, sample.replicates.numpy(), sample.units, is_share=is_share
        )
    return (low, high) if low < high else (None, None)


def _draws(units: int) -> int:
    return REPLICATES if units <= MANY else REPLICATES // 5

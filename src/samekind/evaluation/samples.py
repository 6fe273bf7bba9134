"""A measure before its interval is made: the values of its units, or replicates of units drawn again.

The same units drawn with the same seed in two systems make a paired difference.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.evaluation.rows import Row, noted
from samekind.measures import bootstrap_mean, normal_interval, paired_bootstrap_mean
from samekind.measures.bootstrap import Difference, difference_around, interval_around
from samekind.measures.catalogue import measure_named
from samekind.measures.measure import Measure

#: Draws of a mean, and of a measure that has to be computed anew each time; of very many units, fewer.
REPLICATES, COMPUTED, MANY = 1000, 200, 10_000


class Sample(NamedTuple):
    """A value with ``values`` (units,), of which it is the mean, or with ``replicates`` of it for as many
    ``units`` drawn again; with neither it has no interval.
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
    """One measure of two systems on the same units, and the first less the second.

    ``low`` to ``high`` is the paired 95% interval of the difference and ``p_value`` that of no difference;
    None if there are too few units.
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
        return measure_named(self.measure)

    @property
    def text(self) -> str:
        """The difference with its sign and interval, in percentage points if the values are in per cent."""
        ends = self.entry.ends(self.low, self.high, dash=" to ", sign="+")
        return self.entry.number(self.difference, sign="+") + (f" ({ends})" if ends else "")


def mean_sample(question: str, items: str, measure: Measure, kind: str, unit: str, values: Tensor) -> Sample:
    """The sample of a mean over units: ``values`` (units,)."""
    return Sample(question, items, measure, kind, unit, float(values.mean()), values)


def computed_sample(
    question: str,
    items: str,
    measure: Measure,
    kind: str,
    compute: Callable[[Tensor], float],
    units: int,
    *,
    seed: int,
) -> Sample:
    """The sample of a measure that is computed anew for each replicate: ``compute`` takes indices of items,
    ``units`` of them drawn with replacement.
    """
    generator = torch.Generator().manual_seed(seed)
    count = COMPUTED if units <= MANY else COMPUTED // 4
    draws = (torch.randint(units, (units,), generator=generator) for _ in range(count))
    replicates = torch.tensor([compute(indices) for indices in draws], dtype=torch.double)
    return Sample(
        question, items, measure, kind, "items", compute(torch.arange(units)), None, replicates, units
    )


def rows_of(samples: Iterable[Sample], *, seed: int = 0, note: str = "") -> list[Row]:
    """The rows of samples, with intervals made by drawing their units again.

    Episodes get the normal interval that few-shot work reports. An interval without width, as that of a
    measure without a single mistake, says nothing about the next test, and is left out.
    """
    rows = []
    for sample in samples:
        low, high = _interval(sample, seed)
        unit = "" if low is None else sample.unit
        rows.append(noted(Row(*sample[:4], sample.value, low, high, unit), note))
    return rows


def compared(first: Sample, second: Sample, *, seed: int = 0) -> Compared:
    """The paired difference of two samples of one measure; both must be of the same units."""
    gap: Difference | None = None
    if first.values is not None and second.values is not None and len(first.values) > 1:
        draws = _draws(len(first.values))
        gap = paired_bootstrap_mean(first.values, second.values, replicates=draws, seed=seed)
    elif first.replicates is not None and second.replicates is not None and first.units > 1:
        gaps = (first.replicates - second.replicates).numpy()
        gap = difference_around(first.value - second.value, gaps, first.units)
    (_, low, high), p_value = gap if gap is not None else ((0.0, None, None), None)
    return difference(first[:4], (first.value, second.value), (low, high), p_value, first.unit)


def difference(
    about: tuple[str, str, str, str],
    values: tuple[float, float],
    ends: tuple[float | None, float | None],
    p_value: float | None,
    unit: str,
) -> Compared:
    """The comparison of two values; an interval without width is left out."""
    low, high = ends if ends[0] != ends[1] else (None, None)
    gap = values[0] - values[1]
    return Compared(*about, *values, gap, low, high, p_value, unit if low is not None else "")


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
        # Around the value, not around the replicates: an item drawn twice agrees with itself, which biases
        # their mean. Agreement beyond chance can be negative.
        is_share = min(float(sample.replicates.min()), sample.value) >= 0
        _, low, high = interval_around(
            sample.value, sample.replicates.numpy(), sample.units, is_share=is_share
        )
    return (low, high) if low < high else (None, None)


def _draws(units: int) -> int:
    return REPLICATES if units <= MANY else REPLICATES // 5

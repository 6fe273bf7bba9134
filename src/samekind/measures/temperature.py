"""Temperature scaling: one number that calibrates the probabilities of a classifier.

The probabilities are softmax(scores / temperature). The cost of the true classes, -ln of their probabilities,
is convex in 1 / temperature, so there is one best temperature, and it is found exactly: by Newton's method
kept between bounds.

Guo et al., "On Calibration of Modern Neural Networks", ICML 2017.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.measures.classification import check_class_scores

#: A temperature lies within these multiples of what the best score of an item is usually above its mean
#: score. At the upper end the probabilities are those of guessing up to a thousandth of themselves.
SHARPEST, FLATTEST = 1e-6, 1e3
#: Differences of larger scores leave the range of float64.
LARGEST = 1e300
#: In units of that difference; what lies farther below the best has a probability of 0 within the bounds.
DEEPEST = 1e12
STEPS, EXACT = 200, 1e-12
#: Scores worked on at a time: memory then does not grow with their number.
CHUNK = 2**22


class TemperatureCalibration(NamedTuple):
    """The best temperature within bounds, and the bounds."""

    temperature: float
    lowest: float
    highest: float

    @property
    def at_bound(self) -> bool:
        """Whether the best temperature lies beyond a bound."""
        return self.lowest < self.highest and self.temperature in (self.lowest, self.highest)


def temperature_calibration(class_scores: Tensor, truth: Tensor) -> TemperatureCalibration:
    """The temperature of greatest likelihood: softmax(class_scores / temperature) of (n, classes), for the
    true classes (n,).

    One artificial item is added, with two classes and the typical margin between the best two scores, and the
    second class is true. Without it, n items that are all right would make every probability 1; with it about
    n / (n + 1). Uninformative or reversed scores give the highest temperature, which is as good as guessing.
    If all scores of each item are equal, the temperature is 1.

    >>> class_scores = torch.tensor([[2.0, 0.0]] * 8 + [[0.0, 2.0]])
    >>> found = temperature_calibration(class_scores, torch.zeros(9, dtype=torch.int64))
    >>> [round(each, 3) for each in (class_scores[0] / found.temperature).softmax(0).tolist()]
    [0.8, 0.2]
    """
    truth = check_class_scores(class_scores, truth, name="class_scores")
    scores = class_scores.detach()
    chunks = torch.split(scores, max(1, CHUNK // scores.shape[1]))
    if infinite := sum(int((rows.double().abs() >= LARGEST).sum()) for rows in chunks):
        raise ValueError(f"expected finite class_scores, got {infinite} that are infinite or nearly so")
    gaps = torch.cat([-depths.mean(1) for depths, _ in _depths(scores)])
    if not (gaps > 0).any():
        return TemperatureCalibration(1.0, 1.0, 1.0)
    unit = float(gaps[gaps > 0].median())
    lowest, highest = SHARPEST * unit, FLATTEST * unit
    temperature = unit / _inverse(_Fit(scores, truth, unit))
    return TemperatureCalibration(min(max(temperature, lowest), highest), lowest, highest)


class _Fit:
    """The cost of the true classes as a function of unit / temperature."""

    def __init__(self, scores: Tensor, truth: Tensor, unit: float) -> None:
        self.scores, self.unit = scores, unit
        self.targets, margins = 0.0, []
        for depths, rows in _depths(scores, unit=unit):
            self.targets += float(depths.gather(1, truth[rows, None]).sum())
            margins.append(-depths.topk(2, dim=1).values[:, 1])
        apart = torch.cat(margins)
        #: The margin of the artificial item.
        self.margin = float(apart[apart > 0].median()) if (apart > 0).any() else 0.0

    def slope(self, logarithm: float) -> tuple[float, float]:
        """The derivative of the cost by unit / temperature, and the derivative of that by its logarithm."""
        inverse = math.exp(logarithm)
        # The artificial item: the better of its two classes is wrong.
        wrong = 1 / (1 + math.exp(-inverse * self.margin))
        slope, curvature = self.margin * wrong, self.margin**2 * wrong * (1 - wrong)
        for depths, _ in _depths(self.scores, unit=self.unit):
            chances = (inverse * depths).softmax(1)
            mean = (chances * depths).sum(1, keepdim=True)
            slope += float(mean.sum())
            curvature += float((chances * (depths - mean).square()).sum())
        return slope - self.targets, inverse * curvature


def _inverse(fit: _Fit) -> float:
    """unit / temperature where the cost is lowest, or beyond a bound if it falls towards that."""
    low, high = -math.log(FLATTEST), -math.log(SHARPEST)
    if fit.slope(low)[0] >= 0:
        return math.exp(low) / 2
    if fit.slope(high)[0] <= 0:
        return math.exp(high) * 2
    here, reach = 0.0, high - low
    for _ in range(STEPS):
        slope, curvature = fit.slope(here)
        low, high = (low, here) if slope > 0 else (here, high)
        step = -slope / curvature if curvature > 0 else math.inf
        # Newton's method where it stays between the bounds and is at least as quick as halving them.
        after = here + step if low < here + step < high and abs(step) < reach / 2 else (low + high) / 2
        here, reach = after, abs(after - here)
        if reach < EXACT:
            break
    return math.exp(here)


def _depths(scores: Tensor, *, unit: float | None = None) -> Iterator[tuple[Tensor, slice]]:
    """How far each score lies below the best of its item, a few items at a time; in units, clipped at
    DEEPEST.
    """
    height = max(1, CHUNK // scores.shape[1])
    for start in range(0, len(scores), height):
        rows = slice(start, start + height)
        chunk = scores[rows].double()
        below = chunk - chunk.amax(1, keepdim=True)
        yield below if unit is None else (below / unit).clamp(min=-DEEPEST), rows

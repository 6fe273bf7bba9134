"""Where the two error rates cross: the last strict and the first lenient threshold, and what lies between.

Every threshold that is a score accepts at least one trial more than the next stricter one. So the difference
of the two rates rises with every step and changes its sign once. All counts are whole numbers, so that ties
are exact.
"""

import bisect
from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor

from samekind.measures.sorted_trials import SortedTrials


class EqualError(NamedTuple):
    """The equal error rate and the score it is reached at."""

    rate: float
    threshold: float


class Accepted(NamedTuple):
    """How many trials of each kind a threshold accepts."""

    threshold: float
    targets: int
    impostors: int


class Crossing(NamedTuple):
    """The two thresholds the rates cross between, and how many trials there are of each kind.

    At the strict threshold false accepts are at most as frequent as false rejects. It is None if it would
    have to be above all scores. At the lenient threshold false accepts are more frequent.
    """

    strict: Accepted | None
    lenient: Accepted
    targets: int
    impostors: int

    def gap(self, accepted: Accepted) -> int:
        """The false-accept rate less the false-reject rate, times both numbers of trials."""
        return gap(accepted.targets, accepted.impostors, self.targets, self.impostors)

    def rates(self, accepted: Accepted) -> tuple[float, float]:
        """The false-accept and the false-reject rate."""
        return accepted.impostors / self.impostors, (self.targets - accepted.targets) / self.targets

    def nearest(self) -> EqualError:
        """The mean of the rates where they are nearest to each other; the stricter of two equally near."""
        threshold = self.lenient
        if self.strict is not None and -self.gap(self.strict) <= self.gap(self.lenient):
            threshold = self.strict
        return EqualError(sum(self.rates(threshold)) / 2, threshold.threshold)

    def interpolated(self) -> EqualError:
        """The rate at which the straight line between the two thresholds has equal rates."""
        # Above all scores nothing is accepted; there is no number to interpolate the threshold from.
        strict = self.strict or Accepted(self.lenient.threshold, 0, 0)
        before, after = self.gap(strict), self.gap(self.lenient)
        step = -before / (after - before)
        low, high = self.rates(strict)[0], self.rates(self.lenient)[0]
        threshold = strict.threshold + step * (self.lenient.threshold - strict.threshold)
        return EqualError(low + step * (high - low), threshold)


def gap(accepted_targets: int, accepted_impostors: int, targets: int, impostors: int) -> int:
    """The false-accept rate less the false-reject rate, times both numbers of trials: exact."""
    return accepted_impostors * targets - (targets - accepted_targets) * impostors


def crossing(trials: SortedTrials) -> Crossing:
    """Where the rates of sorted trials cross."""
    targets, impostors = len(trials.targets), len(trials.impostors)

    def accepted(threshold: Tensor) -> Accepted:
        counts = trials.accepted(threshold)
        return Accepted(float(threshold), int(counts[0]), int(counts[1]))

    def is_strict(threshold: Tensor) -> bool:
        counts = accepted(threshold)
        return gap(counts.targets, counts.impostors, targets, impostors) <= 0

    strict, lenient = [], []
    for scores in trials:
        # The strict ones come last in a rising order.
        first = _first(scores, is_strict)
        strict += [scores[first]] if first < len(scores) else []
        lenient += [scores[first - 1]] if first > 0 else []
    last_strict = accepted(min(strict, key=float)) if strict else None
    return Crossing(last_strict, accepted(max(lenient, key=float)), targets, impostors)


def _first(scores: Tensor, holds: Callable[[Tensor], bool]) -> int:
    """The first position for which ``holds`` is true, by bisection."""
    return bisect.bisect_left(range(len(scores)), True, key=lambda place: holds(scores[place]))

"""Where the rates cross, against trying every threshold."""

from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from samekind.measures.crossing import Accepted, Crossing, crossing, gap
from samekind.measures.sorted_trials import sort_trials

SOME = st.lists(st.integers(-5, 5), min_size=1, max_size=10)


def of(same, different):
    scores = torch.tensor([*same, *different], dtype=torch.float32)
    return crossing(sort_trials(scores, torch.tensor([True] * len(same) + [False] * len(different))))


def difference(same, different, threshold):
    """The false-accept rate less the false-reject rate, exactly."""
    accepts = Fraction(sum(score >= threshold for score in different), len(different))
    return accepts - Fraction(sum(value < threshold for value in same), len(same))


@examples(max_examples=60)
@given(SOME, SOME)
def test_strict_and_lenient_are_the_neighbours_of_the_crossing(same, different):
    result = of(same, different)
    thresholds = sorted({*same, *different})
    strict = [threshold for threshold in thresholds if difference(same, different, threshold) <= 0]
    lenient = [value for value in thresholds if difference(same, different, value) > 0]
    assert (result.strict.threshold if result.strict else None) == min(strict, default=None)
    assert result.lenient.threshold == max(lenient)
    for point in (result.strict, result.lenient):
        if point is not None:
            assert point.targets == sum(score >= point.threshold for score in same)
            assert point.impostors == sum(entry >= point.threshold for entry in different)
            whole = difference(same, different, point.threshold) * len(same) * len(different)
            assert result.gap(point) == whole


def test_the_gap_of_billions_is_exact():
    assert gap(10**10, 10**10 - 1, 10**10, 10**10) == 10**10 * (10**10 - 1)


def test_interpolation_is_the_straight_line():
    """From (0, 1/2) at 3 to (1, 1/2) at 2: the rates are equal half way."""
    result = Crossing(Accepted(3.0, 1, 0), Accepted(2.0, 1, 1), 2, 1)
    assert result.interpolated() == (0.5, 2.5)
    assert result.nearest() == (0.25, 3.0)


def test_above_all_scores_there_is_no_threshold_to_interpolate_from():
    assert of([1], [1]).strict is None
    assert of([1], [1]).interpolated() == (0.5, 1.0)
    assert of([1, 2], [3, 4]).interpolated() == (pytest.approx(1.0), 3.0)

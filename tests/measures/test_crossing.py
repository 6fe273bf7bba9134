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
    accepts = Fraction(sum(each >= threshold for each in different), len(different))
    return accepts - Fraction(sum(each < threshold for each in same), len(same))


@examples(max_examples=60)
@given(SOME, SOME)
def test_strict_and_lenient_are_the_neighbours_of_the_crossing(same, different):
    found = of(same, different)
    thresholds = sorted({*same, *different})
    strict = [each for each in thresholds if difference(same, different, each) <= 0]
    lenient = [each for each in thresholds if difference(same, different, each) > 0]
    assert (found.strict.threshold if found.strict else None) == min(strict, default=None)
    assert found.lenient.threshold == max(lenient)
    for point in (found.strict, found.lenient):
        if point is not None:
            assert point.targets == sum(each >= point.threshold for each in same)
            assert point.impostors == sum(each >= point.threshold for each in different)
            whole = difference(same, different, point.threshold) * len(same) * len(different)
            assert found.gap(point) == whole


def test_the_gap_of_billions_is_exact():
    assert gap(10**10, 10**10 - 1, 10**10, 10**10) == 10**10 * (10**10 - 1)


def test_interpolation_is_the_straight_line():
    """From (0, 1/2) at 3 to (1, 1/2) at 2: the rates are equal half way."""
    found = Crossing(Accepted(3.0, 1, 0), Accepted(2.0, 1, 1), 2, 1)
    assert found.interpolated() == (0.5, 2.5)
    assert found.nearest() == (0.25, 3.0)


def test_above_all_scores_there_is_no_threshold_to_interpolate_from():
    assert of([1], [1]).strict is None
    assert of([1], [1]).interpolated() == (0.5, 1.0)
    assert of([1, 2], [3, 4]).interpolated() == (pytest.approx(1.0), 3.0)

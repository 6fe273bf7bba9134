"""Rank correlations between measures over runs."""

import math

import pytest
import torch
from scipy.stats import t

from samekind.errors import DataError
from samekind.evaluation import rank_correlation


def chance(coefficient, count):
    """How likely a coefficient as far from 0 is by chance: twice the tail of Student's distribution."""
    value = abs(coefficient) * math.sqrt((count - 2) / (1 - coefficient**2))
    return 2 * t.sf(value, count - 2)


def test_it_is_the_correlation_of_the_ranks_and_its_chance():
    values = torch.randn(65, 2, generator=torch.Generator().manual_seed(0)).cumsum(1)
    runs = [{"a": first, "b": second, "c": 1.0} for first, second in values.tolist()]
    ranks = values.argsort(0).argsort(0).double()
    expected = float(torch.corrcoef(ranks.T)[0, 1])
    correlation = rank_correlation(runs, "a", "b")
    assert correlation.coefficient == pytest.approx(expected)
    assert correlation.p_value == pytest.approx(chance(expected, 65))
    assert correlation.runs == 65
    assert rank_correlation(runs, "a", "c") is None


@pytest.mark.parametrize(
    ("coefficient", "printed"), [(-0.7407, 1.75e-12), (0.2039, 1.03e-1), (0.5634, 1.03e-6)]
)
def test_the_paper_s_tables_are_of_65_runs(coefficient, printed):
    """Table S2 of paper IV: 13 systems, 5 seeds."""
    assert chance(coefficient, 65) == pytest.approx(printed, rel=0.02)


def test_runs_without_a_measure_do_not_count_and_few_are_refused():
    runs = [{"a": place, "b": place**2} for place in range(4)]
    assert rank_correlation([*runs, {"a": 9.0}], "a", "b").runs == 4
    with pytest.raises(DataError, match="expected 4 runs or more with a and b, got 3"):
        rank_correlation(runs[:3], "a", "b")

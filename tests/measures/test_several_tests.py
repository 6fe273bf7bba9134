"""p-values against SciPy's test, and Holm's correction against its definition."""

import itertools

import pytest
from scipy.stats import ttest_1samp

from samekind.measures import holm, paired_difference, paired_p_value

FIRST, SECOND = [3.0, 5.0, 10.0, 4.0], [2.0, 3.0, 7.0, 3.5]


@pytest.mark.parametrize("by", [0.0, 1.0, -2.0])
def test_the_p_value_is_that_of_students_test(by):
    differences = [one - other for one, other in zip(FIRST, SECOND, strict=True)]
    assert paired_p_value(FIRST, SECOND, by=by) == pytest.approx(ttest_1samp(differences, by).pvalue)


def test_it_is_below_a_twentieth_where_the_interval_leaves_out_the_number():
    _, low, high = paired_difference(FIRST, SECOND)
    inside, outside = low + 1e-6, low - 1e-6
    assert paired_p_value(FIRST, SECOND, by=inside) > 0.05 > paired_p_value(FIRST, SECOND, by=outside)
    assert paired_p_value(FIRST, SECOND, by=high + 1e-6) < 0.05


def test_differences_that_are_all_the_same():
    assert paired_p_value([2.0, 3.0], [1.0, 2.0]) == 0
    assert paired_p_value([2.0, 3.0], [1.0, 2.0], by=1.0) == 1
    with pytest.raises(ValueError, match="two pairs of values or more"):
        paired_p_value([1.0], [2.0])


def by_steps(p_values, level):
    """Holm's procedure as it is written: reject the smallest below level / (how many are left), and go on."""
    rejected, left = set(), sorted(range(len(p_values)), key=lambda number: p_values[number])
    while left and p_values[left[0]] <= level / len(left):
        rejected.add(left.pop(0))
    return rejected


@pytest.mark.parametrize("p_values", [[0.01, 0.04, 0.03], [0.5], [], [0.2, 0.2, 0.001, 0.9], [0.0, 1.0]])
def test_what_is_below_a_level_is_what_the_procedure_rejects_there(p_values):
    adjusted = holm(p_values)
    for level in (0.01, 0.05, 0.061, 0.2, 0.7):
        assert {place for place, value in enumerate(adjusted) if value <= level} == by_steps(p_values, level)


def test_the_order_of_the_tests_does_not_matter():
    p_values = [0.3, 0.01, 0.02, 0.6]
    expected = dict(zip(p_values, holm(p_values), strict=True))
    for order in itertools.permutations(p_values):
        assert holm(order) == [expected[value] for value in order]
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([1.2])

"""Numbers: how they are written, and which one is the best."""

import doctest

import pytest

from samekind.evaluation import Row
from samekind.reports import numbers
from samekind.reports.numbers import best, spread, unit, written


def row(measure, value, low=None, high=None):
    return Row("question", "seen", measure, "cosine", value, low, high)


@pytest.mark.parametrize(
    ("measure", "value", "text", "sign"),
    [
        ("EER", 0.01234, "1.23", "%"),
        ("AUC", 0.99996, "100.00", "%"),
        ("accuracy", 1.0, "100.00", "%"),
        ("5-way 1-shot", 0.5, "50.00", "%"),
        ("NMI", 0.92549, "0.925", ""),
    ],
)
def test_shares_are_in_per_cent_and_information_is_not(measure, value, text, sign):
    assert (written(row(measure, value)), unit(measure)) == (text, sign)


def test_the_spread_is_half_the_interval():
    assert spread(row("5-way 1-shot", 0.9, 0.88, 0.93)) == "2.50"
    assert spread(row("5-way 1-shot", 0.9)) == ""


@pytest.mark.parametrize(
    ("measure", "values", "expected"),
    [
        ("accuracy", [0.9, 0.8, 0.95], {"95.00"}),
        ("EER", [0.1, 0.02, 0.3], {"2.00"}),
        ("NMI", [0.5, 0.6], {"0.600"}),
        # Alike as written: both are the best.
        ("accuracy", [0.90001, 0.90002, 0.5], {"90.00"}),
        # No choice, nothing to point out.
        ("accuracy", [0.9], set()),
        ("EER", [0.1, 0.1], set()),
        ("EER", [], set()),
    ],
)
def test_the_best_is_pointed_out(measure, values, expected):
    assert best([row(measure, value) for value in values]) == expected


def test_doctests():
    assert doctest.testmod(numbers).failed == 0

"""Numbers: how they are written, and which one is the best."""

import doctest

import pytest

from samekind.evaluation import Row
from samekind.reports import numbers
from samekind.reports.numbers import best, ends, unit, written


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
        ("minDCF at 1%", 0.92549, "0.925", ""),
        ("FAR at threshold", 0.92549, "92.55", "%"),
    ],
)
def test_shares_are_in_per_cent_and_information_is_not(measure, value, text, sign):
    assert (written(row(measure, value)), unit(measure)) == (text, sign)


@pytest.mark.parametrize(
    ("measure", "low", "high", "text"),
    [
        ("5-way 1-shot", 0.88, 0.93, "88.0\u201393.0"),
        ("EER", 0.0, 0.0634, "0.0\u20136.3"),
        ("AUC", 0.9861, 1.0, "98.6\u2013100"),
        ("NMI", 0.381, 0.52, "0.38\u20130.52"),
    ],
)
def test_an_interval_is_written_by_its_ends(measure, low, high, text):
    assert ends(row(measure, (low + high) / 2, low, high)) == text


def test_no_interval_no_ends():
    assert ends(row("EER", 0.9)) == ""


@pytest.mark.parametrize(
    ("measure", "values", "expected"),
    [
        ("accuracy", [0.9, 0.8, 0.95], {"95.00"}),
        ("EER", [0.1, 0.02, 0.3], {"2.00"}),
        ("NMI", [0.5, 0.6], {"0.600"}),
        ("minDCF at 1%", [0.5, 0.6], {"0.500"}),
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


def test_what_is_worse_than_a_coin_is_not_pointed_out():
    wrong = [row("AUROC", 0.2, 0.1, 0.3), row("AUROC", 0.34, 0.25, 0.45)]
    assert best(wrong) == set()
    assert best([*wrong, row("AUROC", 0.4, 0.3, 0.6)]) == {"40.00"}


def test_doctests():
    assert doctest.testmod(numbers).failed == 0

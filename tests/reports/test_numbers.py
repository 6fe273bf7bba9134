"""Numbers: how they are written, and which one is the best."""

import doctest

import pytest

from samekind.evaluation import Row
from samekind.reports import numbers
from samekind.reports.numbers import best


def row(measure, value, low=None, high=None):
    return Row("question", "seen", measure, "cosine", value, low, high)


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
def test_the_best_value_is_bold(measure, values, expected):
    assert best([row(measure, value) for value in values]) == expected


def test_a_value_worse_than_guessing_is_not_bold():
    wrong = [row("AUROC", 0.2, 0.1, 0.3), row("AUROC", 0.34, 0.25, 0.45)]
    assert best(wrong) == set()
    assert best([*wrong, row("AUROC", 0.4, 0.3, 0.6)]) == {"40.00"}


def test_doctests():
    assert doctest.testmod(numbers).failed == 0

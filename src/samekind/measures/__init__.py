"""Measures: scores, neighbours or labels, and the truth, to plain numbers.

A measure is a pure function of tensors and usable alone. Items come as (n,) tensors and their order
does not matter; settings are keyword-only, save the threshold a decision is made at. What comes back
is a number, a named tuple of them, a dict, or a tensor where there is a whole curve or table. Inputs
are left as they are, gradients are not followed, and computation is in float64 or whole numbers.
Input that cannot be measured (empty, of different lengths, NaN) is a ``ValueError`` that says what
was expected and what came.
"""

from samekind.measures.classification import accuracy, confusion
from samekind.measures.clustering import normalised_mutual_information
from samekind.measures.intervals import Interval, normal_interval, paired_difference, student_interval
from samekind.measures.retrieval import recall_at
from samekind.measures.verification import (
    EqualError,
    ErrorRates,
    accuracy_at,
    area_under_curve,
    equal_error_rate,
    error_rates,
    rates_at,
    threshold_at,
)

__all__ = [
    "EqualError",
    "ErrorRates",
    "Interval",
    "accuracy",
    "accuracy_at",
    "area_under_curve",
    "confusion",
    "equal_error_rate",
    "error_rates",
    "normal_interval",
    "normalised_mutual_information",
    "paired_difference",
    "rates_at",
    "recall_at",
    "student_interval",
    "threshold_at",
]

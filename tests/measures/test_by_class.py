"""Averages by class against loops."""

import doctest
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.measures import by_class, mean_over_classes, means_by_class


@settings(max_examples=30)
@given(
    entries=st.lists(
        st.tuples(st.integers(-2, 3), st.one_of(st.just(math.nan), st.floats(0, 1))), min_size=1, max_size=12
    )
)
def test_agrees_with_the_definition(entries):
    members = {}
    for label, value in entries:
        if not math.isnan(value):
            members.setdefault(label, []).append(value)
    expected = {label: pytest.approx(sum(values) / len(values)) for label, values in members.items()}
    labels, values = (torch.tensor(column) for column in zip(*entries, strict=True))
    assert means_by_class(values.double(), labels) == expected
    if members:
        averages = [sum(values) / len(values) for values in members.values()]
        assert mean_over_classes(values.double(), labels) == pytest.approx(sum(averages) / len(averages))
    else:
        with pytest.raises(ValueError, match="expected at least one value that is not NaN, got only NaN"):
            mean_over_classes(values.double(), labels)


def test_refuses_values_and_labels_that_do_not_fit():
    with pytest.raises(ValueError, match=r"of one shape \(n,\), .*got \(2,\) and \(3,\)"):
        means_by_class(torch.zeros(2), torch.arange(3))


def test_the_examples_are_right():
    assert doctest.testmod(by_class, extraglobs={"torch": torch}).failed == 0
